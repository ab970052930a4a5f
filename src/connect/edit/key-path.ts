import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../core/json.ts";
import type { PathSegment, Value } from "../../tools/setting.ts";
import type { ResolvedPath } from "../formats/format-editor.ts";

/** The part of a key path that exists in a document. */
export interface ResolvedKeyPath {
  /** The existing segments, with list items by index. */
  path: ResolvedPath;
  /** The setting's value if all segments exist; otherwise the object, list or null where the path ends. */
  value: unknown;
  /** Why the missing segments cannot be added there; null when they can. */
  obstacle: "is not an object" | "is not a list" | null;
}

/** Follows a key path as far as it exists. The top of an empty document is whatever the path needs there. */
export function resolveKeyPath(top: unknown, keyPath: readonly PathSegment[]): ResolvedKeyPath {
  const path: (string | number)[] = [];
  const isListNeeded = typeof keyPath[0] === "object";
  let value = isListNeeded && isTable(top) && Object.keys(top).length === 0 ? [] : top;
  for (const segment of keyPath) {
    const obstacle = findObstacle(value, segment);
    const key = obstacle === null ? findKey(value, segment) : null;
    if (key === null) return { path, value, obstacle };
    path.push(key);
    value = Reflect.get(value as object, key);
  }
  return { path, value, obstacle: null };
}

/** null is no obstacle: YAML writes an empty list or map that way. */
function findObstacle(value: unknown, segment: PathSegment): ResolvedKeyPath["obstacle"] {
  if (value === null) return null;
  if (typeof segment === "string") return isTable(value) ? null : "is not an object";
  return Array.isArray(value) ? null : "is not a list";
}

/** Returns the key or index of a segment; null when the object or list does not have it. */
function findKey(value: unknown, segment: PathSegment): string | number | null {
  if (typeof segment === "string") return isTable(value) && Object.hasOwn(value, segment) ? segment : null;
  if (!Array.isArray(value)) return null;
  const index = value.findIndex((item) => isItem(item, segment));
  return index === -1 ? null : index;
}

function isItem(item: unknown, segment: Exclude<PathSegment, string>): boolean {
  if ("item" in segment) return item === segment.item;
  const fields = Object.entries(segment.where);
  return isTable(item) && fields.every(([name, expected]) => item[name] === expected);
}

/** Returns a list item with what identifies it. */
export function toListItem(segment: Exclude<PathSegment, string>, value: Value): Value {
  if ("item" in segment) return segment.item;
  if (!isTable(value)) throw new Error("an item of a list that is found by its fields must be an object");
  return { ...segment.where, ...value };
}

/** True when a container holds only `key` and the fields by which `segment` identifies it. */
export function isEmptyWithout(
  container: unknown,
  key: string | number,
  segment: PathSegment | undefined,
): boolean {
  if (Array.isArray(container)) return container.length === 1;
  if (!isTable(container)) return false;
  const where = typeof segment === "object" && "where" in segment ? segment.where : {};
  return Object.entries(container).every(
    ([name, value]) => name === key || (Object.hasOwn(where, name) && where[name] === value),
  );
}

/** Returns a copy of a document with another value at `path`; undefined removes the member or item. */
export function withValue(top: unknown, path: ResolvedPath, value: unknown): unknown {
  const copy = structuredClone({ top });
  const whole: ResolvedPath = ["top", ...path];
  const container = whole
    .slice(0, -1)
    .reduce<unknown>((parent, key) => Reflect.get(parent as object, key), copy) as object;
  const last = whole.at(-1) ?? "top";
  if (value !== undefined)
    Object.defineProperty(container, last, { value, enumerable: true, configurable: true, writable: true });
  else if (Array.isArray(container)) container.splice(Number(last), 1);
  else Reflect.deleteProperty(container, last);
  return copy.top;
}

/** True when two documents hold the same data. The order of an object's members does not count. */
export function isEqual(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other);
}

/** Returns a value as JSON keeps it: a TOML date becomes a string. */
export function toJson(value: unknown): Value | null {
  return JSON.parse(JSON.stringify(value)) as Value | null;
}

/** Formats a key path for display: `models[name=tollkeeper].apiBase`, `set-env[NAME=value]`. */
export function formatKeyPath(keyPath: readonly PathSegment[]): string {
  const words = keyPath.map((segment) => {
    if (typeof segment === "string") return `.${segment}`;
    if ("item" in segment) return `[${segment.item}]`;
    const fields = Object.entries(segment.where).map(([name, value]) => `${name}=${value}`);
    return `[${fields.join(",")}]`;
  });
  return words.join("").replace(/^\./, "");
}

/** True for an object with members. A TOML date is an object in JavaScript but a scalar in the document. */
function isTable(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !(value instanceof Date);
}
