import {
  checkConfigText,
  configFailure,
  getConfigValue,
  setConfigValue,
} from "../../adapters/config-file.ts";
import type { Config } from "../../core/config/config.ts";
import { parseConfigPath, type ConfigPath } from "../../core/config/config-path.ts";
import { formatConfigPath, sanitizeText, type Problem } from "../../core/config/problem.ts";
import { buildJsonSchema } from "../../core/config/schema.ts";
import type { JsonSchema } from "../../core/config/shape.ts";
import { Failure } from "../../core/failure.ts";
import { parseJson } from "../../core/json.ts";
import { readTarget, writeTarget } from "../../connect/edit/target-file.ts";
import { attempt } from "../attempt.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** Where a value in force comes from. */
interface ConfigValue {
  value: unknown;
  isDefault: boolean;
}

/** Returns one value of a configuration file, or the default where the file does not set it. @throws WrongUsage */
export function getValue(file: string, name: string): ConfigValue {
  const path = parsePath(name);
  const value = getConfigValue(readTarget(file).existing?.text ?? "", path);
  if (value !== undefined) return { value, isDefault: false };
  const schema = findSchema(buildJsonSchema(), path);
  if (schema === null) throw unknownPath(name);
  return { value: schema["default"] ?? null, isDefault: true };
}

/** A change of a configuration file that has been judged, and not yet been written. */
export interface PlannedChange {
  /** The configuration that it results in. */
  config: Config;
  write(): void;
}

/**
 * Plans to set several values of a configuration file and to keep the rest, comments included; `undefined` removes a value.
 * @param template the text to start from when there is no file
 * @throws Failure when the configuration would not be valid
 */
export async function planChanges(
  file: string,
  changes: readonly (readonly [ConfigPath, unknown])[],
  template: string,
): Promise<PlannedChange> {
  const target = readTarget(file);
  const before = target.existing?.text ?? template;
  const after = changes.reduce((text, [path, value]) => setConfigValue(text, path, value), before);
  const reading = await checkConfigText(file, after);
  if (!reading.ok) throw refusedChange(file, changes, reading.problems);
  return { config: reading.config, write: () => writeTarget(target, after) };
}

/**
 * Sets one value of a configuration file and keeps the rest, comments included. `text` is JSON, or a string without its quotes.
 * @throws Failure, with nothing written, when the configuration would not be valid
 */
export async function setValue(file: string, name: string, text: string, template: string): Promise<void> {
  const path = parsePath(name);
  let first: Failure | null = null;
  for (const value of readings(text)) {
    const { value: change, failure } = await attempt(Failure, () =>
      planChanges(file, [[path, value]], template),
    );
    if (failure === null) return change.write();
    first ??= failure;
  }
  throw first ?? unknownPath(name);
}

/** A fault of the new value itself is the whole message; others need their place in the file. */
function refusedChange(
  file: string,
  changes: readonly (readonly [ConfigPath, unknown])[],
  problems: readonly Problem[],
): Failure {
  const [only] = problems.length === 1 ? problems : [];
  const isOfValue = changes.some(([path]) => formatConfigPath(path) === only?.path);
  const fault = only !== undefined && isOfValue ? `${only.path}: ${only.message}` : null;
  return new Failure(
    fault === null
      ? `nothing was written: with this value, ${configFailure(file, problems).message}`
      : `nothing was written: ${fault}`,
    only?.hint ?? "to see the values that each setting takes, type: tollkeeper config schema",
  );
}

/** `8700` is a number, `token` a string; a string that looks like JSON, such as a key called `1`, is tried last. */
function readings(text: string): unknown[] {
  const json = parseJson(text);
  return json === undefined ? [text] : [json, text];
}

function parsePath(name: string): ConfigPath {
  const path = parseConfigPath(name);
  if (path === null) throw unknownPath(name);
  return path;
}

function unknownPath(name: string): WrongUsage {
  return new WrongUsage(
    `the configuration has no ${sanitizeText(name)}`,
    "a path looks like upstreams.default.baseUrl; to see all keys, type: tollkeeper config schema",
  );
}

/** Follows a path through the schema; null where it names nothing. */
function findSchema(schema: JsonSchema, path: ConfigPath): JsonSchema | null {
  const [step, ...rest] = path;
  if (step === undefined) return schema;
  const options = [schema, ...((schema["anyOf"] as JsonSchema[] | undefined) ?? [])];
  for (const option of options) {
    const next = typeof step === "number" ? option["items"] : memberOf(option, step);
    const found = next === undefined ? null : findSchema(next as JsonSchema, rest);
    if (found !== null) return found;
  }
  return null;
}

function memberOf(schema: JsonSchema, name: string): unknown {
  const properties = (schema["properties"] ?? {}) as Record<string, unknown>;
  if (Object.hasOwn(properties, name)) return properties[name];
  const others = schema["additionalProperties"];
  return typeof others === "object" && others !== null ? others : undefined;
}
