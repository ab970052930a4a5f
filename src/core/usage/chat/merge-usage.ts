import { isObject, type JsonObject } from "../../json.ts";

/** Further members are dropped, so that a stream cannot grow the object without limit. No service sends that many. */
const MAX_NAMES = 64;
/** Assigning to it would set the object's prototype. */
const PROTOTYPE = "__proto__";

/**
 * Merges a later usage object of a stream into the earlier ones. Counts are cumulative: each value, even 0, replaces the one
 * before. A null or a missing member replaces nothing, and nor does another value a number. Of an object that is there already,
 * only the numbers are merged.
 */
export function mergeUsage(into: JsonObject, later: JsonObject): void {
  merge(into, later, (value, before) => {
    if (isObject(before) && isObject(value)) merge(before, value, (detail) => typeof detail === "number");
    else return value !== null && (typeof before !== "number" || typeof value === "number");
    return false;
  });
}

/** Takes over the values that `replaces` allows. */
function merge(
  into: JsonObject,
  later: JsonObject,
  replaces: (value: unknown, before: unknown) => boolean,
): void {
  let size = Object.keys(into).length;
  for (const name in later) {
    const isNew = !Object.hasOwn(into, name);
    if (name === PROTOTYPE || (isNew && size >= MAX_NAMES)) continue;
    if (!replaces(later[name], isNew ? undefined : into[name])) continue;
    into[name] = later[name];
    if (isNew) size++;
  }
}
