import { isObject } from "../json.ts";
import type { ConfigPath } from "./config-path.ts";
import { formatConfigPath } from "./problem.ts";
import { isForbiddenKey } from "./rules.ts";
import { configSchema } from "./schema.ts";
import type { JsonSchema } from "./shape.ts";

/** In a lock, every name that people choose in this place, such as those of tools. */
export const ANY_NAME = "*";

/** Follows a path through the schema of the configuration file; null where it names nothing. */
export function findSetting(path: ConfigPath): JsonSchema | null {
  return follow(configSchema.jsonSchema, path);
}

function follow(schema: JsonSchema, path: ConfigPath): JsonSchema | null {
  const [step, ...rest] = path;
  if (step === undefined) return schema;
  for (const option of formsOf(schema)) {
    const found = stepsInto(option, step).map((next) => (isObject(next) ? follow(next, rest) : null));
    const first = found.find((setting) => setting !== null);
    if (first !== undefined) return first;
  }
  return null;
}

/** `"*"` may be a name of its own, as in `tools`, and stands for all names in a lock. */
function stepsInto(schema: JsonSchema, step: string | number): unknown[] {
  if (typeof step === "number") return [schema["items"]];
  return step === ANY_NAME
    ? [memberOf(schema, step), schema["additionalProperties"]]
    : [memberOf(schema, step)];
}

function memberOf(schema: JsonSchema, name: string): unknown {
  if (isForbiddenKey(name)) return undefined;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"];
}

/** A value with a short form has several schemas. */
function formsOf(schema: JsonSchema): JsonSchema[] {
  const { anyOf } = schema;
  return [schema, ...(Array.isArray(anyOf) ? anyOf.filter(isObject) : [])];
}

/** True for an object of which one member excludes others, such as `keySource`: members of two files would not fit together. */
export function isChoiceOfOne(path: ConfigPath): boolean {
  return findSetting(path)?.["oneOf"] !== undefined;
}

/**
 * Lists the paths of all settings, each after the section that it is in. `file` is any JSON value; its names stand for those that
 * people choose, such as the ones of upstreams.
 */
export function listSettings(file: unknown): string[] {
  return listBelow(configSchema.jsonSchema, [], file).map((path) => formatConfigPath(path));
}

function listBelow(schema: JsonSchema, path: ConfigPath, value: unknown): ConfigPath[] {
  const below = formsOf(schema).flatMap((form) => {
    const properties = isObject(form["properties"]) ? form["properties"] : {};
    const given = isObject(value) ? value : {};
    const named = isObject(form["additionalProperties"]) ? Object.keys(given) : [];
    return [...new Set([...Object.keys(properties), ...named])].flatMap((name) => {
      const next = memberOf(form, name);
      return isObject(next) ? listBelow(next, [...path, name], given[name]) : [];
    });
  });
  return path.length === 0 ? below : [path, ...below];
}
