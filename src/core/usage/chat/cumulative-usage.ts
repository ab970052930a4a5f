import { isObject, type JsonObject } from "../../json.ts";
import { FallenCounts, readCounts } from "../fallen-counts.ts";
import { asWord, isName } from "../fields.ts";

/** Further members are dropped, so that a stream cannot grow the object without limit. No service sends that many. */
const MAX_ADDED = 64;

/** Counts that never fall, each by itself. */
const CUMULATIVE = [
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "input_tokens",
  "output_tokens",
] as const;

/**
 * The usage objects of a stream, merged. Counts are cumulative: each number replaces the one before, at every depth. A null, a
 * missing member and a text replace no number. {@link FallenCounts} says what a lower count does. Later objects add only what the
 * ledger would keep of them, and no lists.
 */
export class CumulativeUsage {
  /** The merged object, with the service's own names. */
  readonly fields: JsonObject;
  readonly fallen = new FallenCounts();
  #added = 0;

  /** Takes over `first`. */
  constructor(first: JsonObject) {
    this.fields = first;
  }

  /** Merges a later usage object of the same stream. */
  add(later: JsonObject): void {
    const before = readCounts(this.fields, CUMULATIVE);
    this.#merge(this.fields, later);
    for (const [i, name] of CUMULATIVE.entries()) this.fallen.resolve(this.fields, [name], [before[i] ?? 0]);
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
