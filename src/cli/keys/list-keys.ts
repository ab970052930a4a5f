import { listConfiguredKeys, type ConfiguredKey } from "../../core/policy/configured-keys.ts";
import type { Config } from "../../core/config/config.ts";
import { KeyFailure } from "../../core/failure.ts";
import { describeKeySource } from "../../core/secrets/key-source.ts";
import type { KeyStore } from "../../ports.ts";
import { attempt } from "../attempt.ts";
import { formatTable, type Column } from "../terminal/table.ts";

/** One key that the configuration names, as `key list --json` prints it. Reveals neither its value nor its length. */
export interface ListedKey {
  name: string;
  upstream: string;
  origin: string;
  source: string;
  /** `stored`, or the code of a `KeyFailure`. */
  state: "stored" | KeyFailure["code"];
  /** What is wrong and how to fix it; null for a stored key. */
  problem: { message: string; hint: string | null } | null;
  /** The configured tools that use it. */
  usedBy: string[];
}

/** Looks up every key, one after another, because keychains serve one caller at a time. */
export async function listKeys(config: Config, store: KeyStore): Promise<ListedKey[]> {
  const keys: ListedKey[] = [];
  for (const configured of listConfiguredKeys(config)) keys.push(await lookUp(configured, store));
  return keys;
}

async function lookUp({ upstream, ref, usedBy }: ConfiguredKey, store: KeyStore): Promise<ListedKey> {
  const { failure } = await attempt(KeyFailure, () => store.read(ref));
  return {
    name: ref.name,
    upstream: upstream.name,
    origin: ref.origin,
    source: describeKeySource(ref.source),
    usedBy,
    state: failure?.code ?? "stored",
    problem: failure && { message: failure.messageForOwner, hint: failure.hint ?? null },
  };
}

const COLUMNS = ["key", "upstream", "origin", "source", "state", "used by"].map((head): Column => ({
  head,
  align: "left",
}));

/** Renders the keys as a table, followed by each distinct problem. */
export function renderKeys(keys: readonly ListedKey[]): string[] {
  const rows = keys.map((key) => {
    return [key.name, key.upstream, key.origin, key.source, key.state, key.usedBy.join(", ")];
  });
  const problems = keys.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  const lines = problems.flatMap(({ message, hint }) => (hint === null ? [message] : [message, `  ${hint}`]));
  return [formatTable(COLUMNS, rows), ...new Set(lines)];
}
