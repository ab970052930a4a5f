import { isObject } from "./json.ts";

/**
 * What data must be like that another process has sent as JSON. `findFault` returns where a value is not like that, such as
 * `keys[0].name`; null for one that is. More members than those named do no harm: a later version may send them.
 */
export interface DataShape<T> {
  findFault(value: unknown, path: string): string | null;
  /** For the compiler alone: no shape has it. */
  readonly of?: T;
}

function kind<T>(isKind: (value: unknown) => boolean): DataShape<T> {
  return { findFault: (value, path) => (isKind(value) ? null : path) };
}

export const TEXT = kind<string>((value) => typeof value === "string");
export const NUMBER = kind<number>((value) => typeof value === "number");
export const FLAG = kind<boolean>((value) => typeof value === "boolean");

/** One of some words. */
export function wordOf<Word extends string>(...words: Word[]): DataShape<Word> {
  return kind((value) => words.some((word) => word === value));
}

/** A word of a list to which later versions may add. */
export function anyWord<Word extends string>(): DataShape<Word> {
  return kind((value) => typeof value === "string");
}

/** A shape, or null. */
export function nullOr<T>(shape: DataShape<T>): DataShape<T | null> {
  return { findFault: (value, path) => (value === null ? null : shape.findFault(value, path)) };
}

/** A shape, or a missing member. */
export function maybe<T>(shape: DataShape<T>): DataShape<T | undefined> {
  return { findFault: (value, path) => (value === undefined ? null : shape.findFault(value, path)) };
}

/** One of two shapes. */
export function either<One, Other>(one: DataShape<One>, other: DataShape<Other>): DataShape<One | Other> {
  return {
    findFault: (value, path) => (one.findFault(value, path) === null ? null : other.findFault(value, path)),
  };
}

/** A list of one shape. */
export function listOf<T>(shape: DataShape<T>): DataShape<T[]> {
  return {
    findFault(value, path) {
      if (!Array.isArray(value)) return path;
      return firstFault(value.map((item, at) => [shape, item, `${path}[${at}]`]));
    },
  };
}

/** A list of two of one shape. */
export function pairOf<T>(shape: DataShape<T>): DataShape<[T, T]> {
  return {
    findFault(value, path) {
      return Array.isArray(value) && value.length === 2 ? listOf(shape).findFault(value, path) : path;
    },
  };
}

/** An object whose members all have one shape, whatever their names. */
export function mapOf<T>(shape: DataShape<T>): DataShape<Record<string, T>> {
  return {
    findFault(value, path) {
      if (!isObject(value)) return path;
      return firstFault(Object.entries(value).map(([name, item]) => [shape, item, `${path}.${name}`]));
    },
  };
}

/** An object with all of these members. */
export function objectOf<T>(members: { [Name in keyof T]-?: DataShape<T[Name]> }): DataShape<T> {
  const shapes = Object.entries<DataShape<unknown>>(members);
  return {
    findFault(value, path) {
      if (!isObject(value)) return path;
      const prefix = path === "" ? "" : `${path}.`;
      return firstFault(shapes.map(([name, shape]) => [shape, value[name], prefix + name]));
    },
  };
}

function firstFault(all: readonly (readonly [DataShape<unknown>, unknown, string])[]): string | null {
  for (const [shape, value, path] of all) {
    const fault = shape.findFault(value, path);
    if (fault !== null) return fault;
  }
  return null;
}
