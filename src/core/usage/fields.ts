import type { Fields } from "./json-scan.ts";

/** More than any answer has; nine thousand such counts still add up exactly. */
const MOST_TOKENS = 1e12;

/** The value as a token count: an integer from 0 to 10^12. Anything else, a string of digits too, is no count: null. */
export function countOf(value: unknown): number | null {
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS;
  // No -0.
  return isCount ? Math.abs(value) : null;
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
