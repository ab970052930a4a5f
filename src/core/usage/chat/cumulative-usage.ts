import { isObject, type JsonObject } from "../../json.ts";
import { asWord, isName } from "../fields.ts";

/** Further members are dropped, so that a stream cannot grow the object without limit. No service sends that many. */
const MAX_ADDED = 64;

/**
 * The usage objects of a stream, merged. Counts are cumulative: each number, even 0, replaces the one before, at every depth. A
 * null, a missing member and a text replace no number. Later objects add only what the ledger would keep of them, and no lists.
 */
export class CumulativeUsage {
  /** The merged object, with the service's own names. */
  readonly fields: JsonObject;
  #added = 0;

  /** Takes over `first`. */
  constructor(first: JsonObject) {
    this.fields = first;
  }

  /** Merges a later usage object of the same stream. */
  add(later: JsonObject): void {
    this.#merge(this.fields, later);
  }

  /** Recursive: the scanner limits the depth. */
  #merge(into: JsonObject, later: JsonObject): void {
    for (const name in later) {
      const value = later[name];
      const isNew = !Object.hasOwn(into, name);
      const before = isNew ? undefined : into[name];
      if (!canReplace(before, value) || (isNew && !this.#hasRoom(name))) continue;
      if (!isObject(value)) into[name] = value;
      else if (isObject(before)) this.#merge(before, value);
      else {
        const added: JsonObject = {};
        into[name] = added;
        this.#merge(added, value);
      }
    }
  }

  #hasRoom(name: string): boolean {
    return isName(name) && ++this.#added <= MAX_ADDED;
  }
}

function canReplace(before: unknown, value: unknown): boolean {
  if (typeof value === "number") return true;
  if (typeof before === "number") return false;
  return typeof value === "boolean" || isObject(value) || asWord(value) !== null;
}
