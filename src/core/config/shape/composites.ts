import { KEY_VALUE_FOUND, looksLikeKey, sanitizeText, type Issue } from "../problem.ts";
import { isForbiddenKey } from "../rules.ts";
import { NAME } from "../names.ts";
import { isObject } from "../../json.ts";
import { findNearest } from "../../text/did-you-mean.ts";
import { Shape, wrongType, type OutputOf, type ReadResult } from "../shape.ts";

type Fields = Record<string, Shape<unknown>>;

type Resolved<Of extends Fields> = { [Key in keyof Of]: OutputOf<Of[Key]> };

/** An object with these keys and no others. */
export function object<Of extends Fields>(fields: Of): Shape<Resolved<Of>> {
  const known = Object.keys(fields);
  const required = known.filter((key) => fields[key]?.isRequired);
  const jsonSchema = {
    type: "object",
    properties: Object.fromEntries(known.map((key) => [key, fields[key]?.jsonSchema])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  return new Shape(jsonSchema, (value, path) => {
    if (!isObject(value)) return wrongType(value, path, "an object: { ... }");
    const read = Object.entries(fields).map(([key, shape]) => {
      const below = Object.hasOwn(value, key) ? value[key] : undefined;
      return [key, shape.read(below, [...path, key])] as const;
    });
    // Each value comes from the shape that its type was inferred from.
    return join(read, findUnknownKeys(value, known, path)) as ReadResult<Resolved<Of>>;
  });
}

/** An object of named entries. `findRuleIssues` checks the names, so that a bad name does not hide issues in its entry. */
export function named<Entry>(entry: Shape<Entry>): Shape<Record<string, Entry>> {
  const jsonSchema = {
    type: "object",
    propertyNames: { type: "string", pattern: NAME.source },
    additionalProperties: entry.jsonSchema,
  };
  return new Shape(jsonSchema, (value, path) => {
    if (!isObject(value)) return wrongType(value, path, "an object: { ... }");
    return join(Object.entries(value).map(([name, below]) => [name, entry.read(below, [...path, name])]));
  });
}

/** A list of any length. */
export function list<Item>(item: Shape<Item>): Shape<Item[]> {
  return new Shape({ type: "array", items: item.jsonSchema }, (value, path) => {
    if (!Array.isArray(value)) return wrongType(value, path, "a list: [ ... ]");
    return readItems(value, path, () => item);
  });
}

/** A list of at least one item, whose first item has a shape of its own. */
export function listFrom<Item>(first: Shape<Item>, item: Shape<Item>): Shape<[Item, ...Item[]]> {
  const jsonSchema = {
    type: "array",
    items: [first.jsonSchema],
    additionalItems: item.jsonSchema,
    minItems: 1,
  };
  return new Shape(jsonSchema, (value, path) => {
    if (!Array.isArray(value)) return wrongType(value, path, "a list: [ ... ]");
    const items = value.length === 0 ? [undefined] : (value as unknown[]);
    // In an empty list the first item is missing, which is an issue.
    return readItems(items, path, (index) => (index === 0 ? first : item)) as ReadResult<[Item, ...Item[]]>;
  });
}

/** An object, or a short form that is not an object. Reports the issues of whichever form was written. */
export function shortOrObject<Short, Long>(short: Shape<Short>, long: Shape<Long>): Shape<Short | Long> {
  return new Shape<Short | Long>({ anyOf: [short.jsonSchema, long.jsonSchema] }, (value, path) => {
    if (isObject(value)) return long.read(value, path);
    const result = short.read(value, path);
    if ("value" in result) return result;
    const orObject = ({ message }: Issue) => ({ path, message: `${message}, or an object: { ... }` });
    return { issues: result.issues.map(orObject) };
  });
}

function readItems<Item>(
  items: readonly unknown[],
  path: Issue["path"],
  shapeAt: (index: number) => Shape<Item>,
): ReadResult<Item[]> {
  const results = items.map((item, index) => shapeAt(index).read(item, [...path, index]));
  const issues = results.flatMap((result) => ("issues" in result ? result.issues : []));
  if (issues.length > 0) return { issues };
  return { value: results.flatMap((result) => ("value" in result ? [result.value] : [])) };
}

/** Builds a new object of all values, or collects all issues. Object.fromEntries defines keys: an assignment could set a prototype. */
function join<Value>(
  results: readonly (readonly [key: string, ReadResult<Value>])[],
  more: Issue[] = [],
): ReadResult<Record<string, Value>> {
  const issues = [...results.flatMap(([, result]) => ("issues" in result ? result.issues : [])), ...more];
  if (issues.length > 0) return { issues };
  return {
    value: Object.fromEntries(
      results.flatMap(([key, result]) => ("value" in result ? [[key, result.value]] : [])),
    ),
  };
}

/** Leaves out forbidden keys, which rules.ts reports. */
function findUnknownKeys(
  value: Record<string, unknown>,
  known: readonly string[],
  path: Issue["path"],
): Issue[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key) && !isForbiddenKey(key))
    .map((key) => ({ path: [...path, key], message: describeUnknownKey(key, known, value[key]) }));
}

function describeUnknownKey(key: string, known: readonly string[], value: unknown): string {
  if (typeof value === "string" && looksLikeKey(value)) return KEY_VALUE_FOUND;
  const near = findNearest(key, known);
  const fix = near === null ? `known here: ${known.join(", ")}` : `did you mean "${near}"?`;
  return `unknown key "${sanitizeText(key)}"; ${fix}`;
}
