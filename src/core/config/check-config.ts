import type { Config } from "./config.ts";
import type { Issue } from "./problem.ts";
import { findRuleIssues } from "./rules.ts";
import { configSchema } from "./schema.ts";

/** A resolved configuration, or everything that is wrong with the file. */
type ConfigResult = { ok: true; config: Config } | { ok: false; issues: Issue[] };

/**
 * Checks and resolves the content of a configuration file. Reports all issues at once: those of single values and those
 * between values. The result shares no object with `file`.
 * @param file the file's JSON value
 * @param home absolute path of the home directory, for paths that start with `~/`
 */
export function checkConfig(file: unknown, home: string): ConfigResult {
  const result = configSchema.read(file, []);
  const issues = [...("issues" in result ? result.issues : []), ...findRuleIssues(file)];
  if ("issues" in result || issues.length > 0) return { ok: false, issues };
  return { ok: true, config: resolvePaths(result.value, home) };
}

/** Expands `~`, which no shell does for a service. Modifies `config`. */
function resolvePaths(config: Config, home: string): Config {
  const expand = (path: string) => (path.startsWith("~/") ? home + path.slice(1) : path);
  for (const { keySource } of Object.values(config.upstreams)) {
    if (keySource.kind === "file") keySource.path = expand(keySource.path);
  }
  if (config.outbound.caFile !== null) config.outbound.caFile = expand(config.outbound.caFile);
  if (config.ledger.directory !== null) config.ledger.directory = expand(config.ledger.directory);
  return config;
}
