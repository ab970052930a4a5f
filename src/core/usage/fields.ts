import type { Fields } from "./json-scan.ts";

/** The value as a token count: a safe integer >= 0. Anything else, a string of digits too, is no count: null. */
export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? Math.abs(value) : null;
}

/** The value if it is text that says something, else null. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The value if it is an object, else an object without members: a missing object and an empty one say the same. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
