import { isObject, type JsonObject } from "../../json.ts";

/** Further members are dropped, so that a stream cannot grow the object without limit. No service sends that many. */
const MAX_NAMES = 64;
const MAX_DEPTH = 4;
/** Assigning to it would set the object's prototype. */
const PROTOTYPE = "__proto__";

/**
 * Merges a later usage object of a stream into the earlier ones. Counts are cumulative: each value, even 0, replaces the one
 * before. A null or a missing member replaces nothing, within nested objects as well.
 */
export function mergeUsage(into: JsonObject, later: JsonObject, depth = 0): void {
  let size = Object.keys(into).length;
  for (const name in later) {
    const value = later[name];
    const before = Object.hasOwn(into, name) ? into[name] : undefined;
    if (name === PROTOTYPE || (value === null && before !== undefined)) continue;
    if (before === undefined && ++size > MAX_NAMES) continue;
    if (isObject(before) && isObject(value) && depth < MAX_DEPTH) mergeUsage(before, value, depth + 1);
    else if (typeof before !== "number" || typeof value === "number") into[name] = value;
  }
}
