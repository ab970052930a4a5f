import { isObject, type JsonObject } from "../core/json.ts";

/** Returns the objects in a list, in order; none when `value` is not a list. */
export function pickObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns a copy of `object` without the member `name`, in the same order. */
export function omit(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}
