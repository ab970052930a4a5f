import { KEY_VALUE_FOUND, looksLikeKey, repeatable, type Fault } from "../problem.ts";
import { isForbiddenKey } from "../rules.ts";
import { NAME } from "../string-rules.ts";
import { nearest } from "../../text/did-you-mean.ts";
import { Shape, wrongKind, type OutputOf, type Verdict } from "../shape.ts";

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
    if (!isObject(value)) return wrongKind(value, path, "an object: { ... }");
    const read = Object.entries(fields).map(([key, shape]) => {
      const below = Object.hasOwn(value, key) ? value[key] : undefined;
      return [key, shape.read(below, [...path, key])] as const;
    });
    // Each key has been resolved by the shape that its type was taken from.
    return join(read, findUnknown(value, known, path)) as Verdict<Resolved<Of>>;
  });
}

/** An object of named entries. Names are judged by `findRuleFaults`, so that a bad one does not hide what is below it. */
export function named<Entry>(entry: Shape<Entry>): Shape<Record<string, Entry>> {
  const jsonSchema = {
    type: "object",
    propertyNames: { type: "string", pattern: NAME.source },
    additionalProperties: entry.jsonSchema,
  };
  return new Shape(jsonSchema, (value, path) => {
    if (!isObject(value)) return wrongKind(value, path, "an object: { ... }");
    return join(Object.entries(value).map(([name, below]) => [name, entry.read(below, [...path, name])]));
  });
}

/** A list of any length. */
export function list<Item>(item: Shape<Item>): Shape<Item[]> {
  return new Shape({ type: "array", items: item.jsonSchema }, (value, path) => {
    if (!Array.isArray(value)) return wrongKind(value, path, "a list: [ ... ]");
    return readItems(value, path, () => item);
  });
}

/** A list of at least one, whose first item has a shape of its own. */
export function listFrom<Item>(first: Shape<Item>, item: Shape<Item>): Shape<[Item, ...Item[]]> {
  const jsonSchema = {
    type: "array",
    items: [first.jsonSchema],
    additionalItems: item.jsonSchema,
    minItems: 1,
  };
  return new Shape(jsonSchema, (value, path) => {
    if (!Array.isArray(value)) return wrongKind(value, path, "a list: [ ... ]");
    const items = value.length === 0 ? [undefined] : (value as unknown[]);
    // Of an empty list the first item is missing, which is a fault.
    return readItems(items, path, (index) => (index === 0 ? first : item)) as Verdict<[Item, ...Item[]]>;
  });
}

/** An object, or the short form of one, which is none. Faults are those of the form that was meant. */
export function shortOrObject<Short, Long>(short: Shape<Short>, long: Shape<Long>): Shape<Short | Long> {
  return new Shape<Short | Long>({ anyOf: [short.jsonSchema, long.jsonSchema] }, (value, path) => {
    if (isObject(value)) return long.read(value, path);
    const verdict = short.read(value, path);
    if ("value" in verdict) return verdict;
    const orObject = ({ message }: Fault) => ({ path, message: `${message}, or an object: { ... }` });
    return { faults: verdict.faults.map(orObject) };
  });
}

function readItems<Item>(
  items: readonly unknown[],
  path: Fault["path"],
  shapeAt: (index: number) => Shape<Item>,
): Verdict<Item[]> {
  const verdicts = items.map((item, index) => shapeAt(index).read(item, [...path, index]));
  const faults = verdicts.flatMap((verdict) => ("faults" in verdict ? verdict.faults : []));
  if (faults.length > 0) return { faults };
  return { value: verdicts.flatMap((verdict) => ("value" in verdict ? [verdict.value] : [])) };
}

/** A fresh object of all values, or all faults. Defines its keys, where an assignment could reach a prototype. */
function join<Value>(
  verdicts: readonly (readonly [key: string, Verdict<Value>])[],
  more: Fault[] = [],
): Verdict<Record<string, Value>> {
  const faults = verdicts.flatMap(([, verdict]) => ("faults" in verdict ? verdict.faults : []));
  if (faults.length + more.length > 0) return { faults: [...faults, ...more] };
  return {
    value: Object.fromEntries(
      verdicts.flatMap(([key, verdict]) => ("value" in verdict ? [[key, verdict.value]] : [])),
    ),
  };
}

/** Forbidden keys are faults already, wherever they stand (config-rules.ts). */
function findUnknown(value: Record<string, unknown>, known: readonly string[], path: Fault["path"]): Fault[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key) && !isForbiddenKey(key))
    .map((key) => ({ path: [...path, key], message: sayUnknown(key, known, value[key]) }));
}

function sayUnknown(key: string, known: readonly string[], value: unknown): string {
  if (typeof value === "string" && looksLikeKey(value)) return KEY_VALUE_FOUND;
  const near = nearest(key, known);
  const fix = near === null ? `known here: ${known.join(", ")}` : `did you mean "${near}"?`;
  return `unknown key "${repeatable(key)}"; ${fix}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
