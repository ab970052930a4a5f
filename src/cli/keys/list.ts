import { keyRefsOf } from "../../core/config/config.ts";
import type { Config, ConfiguredKey } from "../../core/config/config.ts";
import { KeyFailure } from "../../core/failure.ts";
import { describeKeySource } from "../../core/secrets/key-source.ts";
import type { KeyStore } from "../../ports.ts";
import { layOut, type Column } from "../terminal/table.ts";

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
    return {
      ...key,
      state: error.code,
      problem: { message: error.messageForOwner, hint: error.hint ?? null },
    };
  }
}

const COLUMNS = ["key", "upstream", "origin", "source", "state", "used by"].map((head): Column => ({
  head,
  align: "left",
}));

/** The keys as a table, then each thing that is wrong, once. */
export function renderKeys(keys: readonly ListedKey[]): string[] {
  const rows = keys.map(({ name, upstream, origin, source, state, usedBy }) => [
    name,
    upstream,
    origin,
    source,
    state,
    usedBy.join(", "),
  ]);
  const problems = keys.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  const lines = problems.flatMap(({ message, hint }) => (hint === null ? [message] : [message, `  ${hint}`]));
  return [layOut(COLUMNS, rows), ...new Set(lines)];
}
