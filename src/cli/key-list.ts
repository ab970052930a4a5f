import Table from "cli-table3";
import { keyRefsOf } from "../core/config.ts";
import type { Config, ConfiguredKey } from "../core/config.ts";
import { KeyFailure } from "../core/failure.ts";
import { describeKeySource } from "../core/key-source.ts";
import type { KeyStore } from "../ports.ts";

/** One key that the configuration names, as `key list --json` prints it; never its value, nor its length. */
export interface ListedKey {
  name: string;
  upstream: string;
  origin: string;
  source: string;
  /** `stored`, or the code of a `KeyFailure`. */
  state: "stored" | KeyFailure["code"];
  /** What is wrong and what to type; null for a stored key. */
  problem: { message: string; hint: string | null } | null;
  /** The configured tools that use it. */
  usedBy: string[];
}

/** Looks every key up, one after another: keychains answer one caller at a time. */
export async function listKeys(config: Config, store: KeyStore): Promise<ListedKey[]> {
  const keys: ListedKey[] = [];
  for (const configured of keyRefsOf(config)) keys.push(await lookUp(configured, store));
  return keys;
}

async function lookUp({ upstream, ref, usedBy }: ConfiguredKey, store: KeyStore): Promise<ListedKey> {
  const key = {
    name: ref.name,
    upstream: upstream.name,
    origin: ref.origin,
    source: describeKeySource(ref.source),
    usedBy,
  };
  try {
    await store.read(ref);
    return { ...key, state: "stored", problem: null };
  } catch (error) {
    if (!(error instanceof KeyFailure)) throw error;
    return { ...key, state: error.code, problem: { message: error.message, hint: error.hint ?? null } };
  }
}

/** The keys as a table, then each thing that is wrong, once. */
export function renderKeys(keys: readonly ListedKey[]): string[] {
  const table = new Table({
    head: ["key", "upstream", "origin", "source", "state", "used by"],
    style: { head: [], border: [] },
  });
  for (const { name, upstream, origin, source, state, usedBy } of keys) {
    table.push([name, upstream, origin, source, state, usedBy.join(", ")]);
  }
  const problems = keys.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  const lines = problems.flatMap(({ message, hint }) => (hint === null ? [message] : [message, `  ${hint}`]));
  return [...table.toString().split("\n"), ...new Set(lines)];
}
