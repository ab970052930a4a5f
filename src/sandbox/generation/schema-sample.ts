import { isObject, type JsonObject } from "../../core/json.ts";
import { pickObjects } from "../json.ts";

const WORD = "sandbox";
const MAX_DEPTH = 16;

/** Strings that match the `format`s of JSON Schema. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  email: "sandbox@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/**
 * Returns a small value that matches a JSON Schema, with required properties only. It is harmless, because a real tool may
 * run with it: a string is the word "sandbox" unless the schema demands another.
 */
export function sampleFromSchema(schema: JsonObject): unknown {
  return sample(schema, schema, 0);
}

function sample(schema: unknown, root: JsonObject, depth: number): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return null;
  if ("const" in schema) return schema["const"];
  if ("default" in schema) return schema["default"];
  const choices = [schema["examples"], schema["enum"]].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(choices)) return choices[0];
  const target = resolveIndirection(schema, root);
  return target === undefined ? sampleOfType(schema, root, depth) : sample(target, root, depth + 1);
}

/** Returns the schema that a reference or a combination of schemas resolves to; undefined for any other schema. */
function resolveIndirection(schema: JsonObject, root: JsonObject): unknown {
  if (typeof schema["$ref"] === "string") return followReference(schema["$ref"], root);
  const [all, any] = [pickObjects(schema["allOf"]), pickObjects(schema["anyOf"] ?? schema["oneOf"])];
  if (all.length > 0) return Object.assign({}, ...all);
  return any[0];
}

/** Returns the target of a reference within the document, such as `#/$defs/Step`; null when there is none. */
function followReference(reference: string, root: JsonObject): unknown {
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
