import { isObject, objectsIn, type JsonObject } from "./json.ts";

const WORD = "sandbox";
const MAX_DEPTH = 16;

/** Strings that fit JSON Schema's `format`s. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  email: "sandbox@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/**
 * The smallest harmless value that fits a JSON Schema: required properties only, and the word "sandbox" where
 * any string will do, because a real tool may run with it.
 */
export function sampleOf(schema: JsonObject): unknown {
  return sample(schema, schema, 0);
}

function sample(schema: unknown, root: JsonObject, depth: number): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return null;
  if ("const" in schema) return schema["const"];
  if ("default" in schema) return schema["default"];
  const given = [schema["examples"], schema["enum"]].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(given)) return given[0];
  const other = redirect(schema, root);
  return other === undefined ? sampleOfType(schema, root, depth) : sample(other, root, depth + 1);
}

/** The schema to look at in place of one that only refers or combines. */
function redirect(schema: JsonObject, root: JsonObject): unknown {
  if (typeof schema["$ref"] === "string") return resolve(schema["$ref"], root);
  const [all, any] = [objectsIn(schema["allOf"]), objectsIn(schema["anyOf"] ?? schema["oneOf"])];
  if (all.length > 0) return Object.assign({}, ...all);
  return any[0];
}

/** Follows a reference within the document, such as `#/$defs/Step`. */
function resolve(reference: string, root: JsonObject): unknown {
  let found: unknown = root;
  for (const name of reference.split("/").slice(1)) found = isObject(found) ? found[name] : undefined;
  return found ?? null;
}

function sampleOfType(schema: JsonObject, root: JsonObject, depth: number): unknown {
  switch (typeOf(schema)) {
    case "object":
      return sampleObject(schema, root, depth);
    case "array":
      return Array.from({ length: Number(schema["minItems"] ?? 0) }, () =>
        sample(schema["items"] ?? {}, root, depth + 1),
      );
    case "integer":
    case "number":
      return sampleNumber(schema);
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return sampleString(schema);
  }
}

function typeOf(schema: JsonObject): unknown {
  const type: unknown = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  return type ?? (isObject(schema["properties"]) ? "object" : "string");
}

function sampleObject(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required: unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const names = required.filter((name) => typeof name === "string");
  return Object.fromEntries(names.map((name) => [name, sample(properties[name] ?? {}, root, depth + 1)]));
}

function sampleNumber(schema: JsonObject): number {
  const least = Number(schema["minimum"] ?? Number(schema["exclusiveMinimum"] ?? 0) + 1);
  return Math.min(least, Number(schema["maximum"] ?? Infinity));
}

function sampleString(schema: JsonObject): string {
  const format = FORMATS[String(schema["format"])];
  if (format !== undefined) return format;
  return WORD.padEnd(Number(schema["minLength"] ?? 0), ".").slice(0, Number(schema["maxLength"] ?? Infinity));
}
