import type { Config } from "./config.ts";
import { KEY_VALUE_FOUND, looksLikeKey, repeatable } from "./config-problem.ts";
import type { Fault } from "./config-problem.ts";
import { findRuleFaults, isForbiddenKey } from "./config-rules.ts";
import { buildJsonSchema, configSchema } from "./config-schema.ts";
import { nearest } from "./did-you-mean.ts";
import { valueAt } from "./value-at.ts";

/** A configuration, or everything that is wrong with it. */
export type ConfigVerdict = { ok: true; config: Config } | { ok: false; faults: Fault[] };

/**
 * Judges what a configuration file says and resolves it. All problems come at once, those of single values and
 * those between them. The result is built of fresh objects.
 * @param file the file's JSON value
 * @param home home directory, absolute, for paths that start with `~/`
 */
export function checkConfig(file: unknown, home: string): ConfigVerdict {
  const parsed = configSchema.safeParse(file, { error: sayPlainly });
  const faults = parsed.success ? [] : parsed.error.issues.flatMap((issue) => faultsOf(issue, file));
  faults.push(...findRuleFaults(file));
  if (!parsed.success || faults.length > 0) return { ok: false, faults };
  return { ok: true, config: resolvePaths(parsed.data, home) };
}

type Issue = NonNullable<ReturnType<typeof configSchema.safeParse>["error"]>["issues"][number];
type ErrorMap = NonNullable<NonNullable<Parameters<typeof configSchema.safeParse>[1]>["error"]>;
type RawIssue = Parameters<ErrorMap>[0];

const KINDS: Record<string, string> = {
  string: "a string",
  boolean: "true or false",
  int: "a whole number",
  number: "a whole number",
  array: "a list: [ ... ]",
  tuple: "a list: [ ... ]",
  object: "an object: { ... }",
  record: "an object: { ... }",
};

/** The words for what the schema has none of its own for. The value is never repeated: it may be a key. */
function sayPlainly(issue: RawIssue): string | undefined {
  if (issue.code === "invalid_type") {
    return issue.input === undefined ? "is missing" : `must be ${KINDS[issue.expected] ?? issue.expected}`;
  }
  if (issue.code === "invalid_value") {
    const words = issue.values.map((value) => JSON.stringify(value)).join(" or ");
    return issue.input === undefined ? `is missing; it is ${words}` : `must be ${words}`;
  }
  if (issue.code === "too_small") {
    return typeof issue.input === "number" ? `must be at least ${issue.minimum}` : "must not be empty";
  }
  return issue.code === "too_big" ? `must be at most ${issue.maximum}` : undefined;
}

function faultsOf(issue: Issue, file: unknown): Fault[] {
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
  const known = knownKeysAt(path);
  return issue.keys
    .filter((key) => !isForbiddenKey(key))
    .map((key) => ({ path: [...path, key], message: sayUnknown(key, known, valueAt(file, [...path, key])) }));
}

function sayUnknown(key: string, known: readonly string[], value: unknown): string {
  if (typeof value === "string" && looksLikeKey(value)) return KEY_VALUE_FOUND;
  const near = nearest(key, known);
  const fix = near === null ? `known here: ${known.join(", ")}` : `did you mean "${near}"?`;
  return `unknown key "${repeatable(key)}"; ${fix}`;
}

/** The keys that the schema knows in the object that `path` leads to. */
function knownKeysAt(path: Fault["path"]): string[] {
  let schema: unknown = buildJsonSchema();
  for (const step of path) {
    const below = valueAt(schema, ["properties", step]) ?? valueAt(schema, ["additionalProperties"]);
    schema = below ?? valueAt(schema, ["items"]);
  }
  return Object.keys(valueAt(schema, ["properties"]) ?? {});
}

/** A service has no shell to expand `~`. Changes `config`, which is fresh. */
function resolvePaths(config: Config, home: string): Config {
  const expand = (path: string) => (path.startsWith("~/") ? home + path.slice(1) : path);
  for (const { keySource } of Object.values(config.upstreams)) {
    if (keySource.kind === "file") keySource.path = expand(keySource.path);
  }
  if (config.ledger.directory !== null) config.ledger.directory = expand(config.ledger.directory);
  return config;
}
