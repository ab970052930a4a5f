import type { Config } from "./config.ts";
import type { Fault } from "./problem.ts";
import { findRuleFaults } from "./rules.ts";
import { configSchema } from "./schema.ts";

/** A configuration, or everything that is wrong with it. */
export type ConfigVerdict = { ok: true; config: Config } | { ok: false; faults: Fault[] };

/**
 * Judges what a configuration file says and resolves it. All problems come at once, those of single values and
 * those between them. The result is built of fresh objects.
 * @param file the file's JSON value
 * @param home home directory, absolute, for paths that start with `~/`
 */
export function checkConfig(file: unknown, home: string): ConfigVerdict {
  const verdict = configSchema.read(file, []);
  const faults = [...("faults" in verdict ? verdict.faults : []), ...findRuleFaults(file)];
  if ("faults" in verdict || faults.length > 0) return { ok: false, faults };
  return { ok: true, config: resolvePaths(verdict.value, home) };
}

/** A service has no shell to expand `~`. Changes `config`, which is fresh. */
function resolvePaths(config: Config, home: string): Config {
  const expand = (path: string) => (path.startsWith("~/") ? home + path.slice(1) : path);
  for (const { keySource } of Object.values(config.upstreams)) {
    if (keySource.kind === "file") keySource.path = expand(keySource.path);
  }
  if (config.outbound.caFile !== null) config.outbound.caFile = expand(config.outbound.caFile);
  if (config.ledger.directory !== null) config.ledger.directory = expand(config.ledger.directory);
  return config;
}
