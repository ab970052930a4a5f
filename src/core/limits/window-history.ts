import { isObject, parseJson } from "../json.ts";
import { isWindowName, lengthOf } from "./limit-names.ts";
import type { WindowSpan } from "./window-names.ts";
import type { WindowReading } from "./read-limits.ts";

/** When the windows of an account have reset or will, by the windows' names. Milliseconds since 1970, the earliest first. */
export type WindowResets = ReadonlyMap<string, readonly number[]>;

/** As many are kept of each window: two months of 5 hours. */
const MOST_RESETS = 300;
/** Services round resets, or count them from each response. What differs by less than this part of its length is one window. */
const SAME_PART = 1 / 60;

/** Returns the resets with those of these readings that are new; the same object if none is. An earlier reset than the last is one of a response that was overtaken. */
export function noteResets(known: WindowResets, readings: readonly WindowReading[]): WindowResets {
  let noted = known;
  for (const { window, resetsAt } of readings) {
    const length = lengthOf(window);
    if (length === null || resetsAt === null) continue;
    const resets = noted.get(window) ?? [];
    const last = resets.at(-1) ?? -Infinity;
    if (resetsAt > last + length * SAME_PART)
      noted = new Map(noted).set(window, [...resets, resetsAt].slice(-MOST_RESETS));
  }
  return noted;
}

/** Returns the windows that these resets ended. One that reset early ends where the next one begins. `length` in milliseconds. */
export function listSpans(resets: readonly number[], length: number): WindowSpan[] {
  return resets.map((reset, at) => {
    const next = resets[at + 1] ?? Infinity;
    return { from: reset - length, until: Math.min(reset, next - length) };
  });
}

/** Reads the resets of each account from the text of `encodeLimits`. What is damaged, or of a later release, is not known. */
export function parseResets(text: string): Map<string, WindowResets> {
  const value = parseJson(text);
  const accounts =
    isObject(value) && Array.isArray(value["accounts"]) ? (value["accounts"] as unknown[]) : [];
  return new Map(
    accounts.flatMap((one): [string, WindowResets][] => {
      if (!isObject(one) || typeof one["account"] !== "string" || !isObject(one["resets"])) return [];
      const resets = Object.entries(one["resets"]).filter(isResets);
      return [[one["account"], new Map(resets)]];
    }),
  );
}

function isResets(entry: [string, unknown]): entry is [string, number[]] {
  const [window, resets] = entry;
  return isWindowName(window) && Array.isArray(resets) && resets.every(isTime);
}

function isTime(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 8.64e15;
}
