import type { HeaderIndex } from "../http/header-index.ts";
import { PLAN_WINDOWS, RETRY } from "./limit-names.ts";
import type { WindowReading } from "./read-limits.ts";

/** The shares of a window that are warned of, in percent. */
type WarnShare = 80 | 95;

/** What was last warned of a window. */
interface WarnedLimit {
  share: WarnShare;
  /** What was used then. */
  usedPercent: number | null;
  /** Until when the same warning is not given again; milliseconds since 1970. */
  until: number;
}

/** What was last said of a window, and when, in milliseconds since 1970. */
export interface SeenWindow extends WindowReading {
  seenAt: number;
  /** The warning that was given, while it is not to be given again. */
  warned?: WarnedLimit;
}

/** A service's own words about its windows, as the share that they stand for. */
export type ServiceWords = ReadonlyMap<string, WarnShare>;

/** A window to be warned of. `says` is the service's word where that came before the share. */
export interface LimitWarning {
  window: SeenWindow & { warned: WarnedLimit };
  says: "warns" | "refuses" | null;
}

/** Tools repeat a request by themselves after a shorter wait than this. */
const LONG_WAIT_MS = 60_000;
/** A count of requests or tokens refills all the time: it would warn each minute. */
const REFILLED_AGAIN_MS = 3_600_000;
/** Without a reset, and without a lower value, as long as a window is kept. */
const UNKNOWN_RESET_MS = 31 * 86_400_000;
/** Responses overtake each other, so a value that is lower by less is no reset. In percent. */
const LOWER_BY = 5;

/** The windows that `representative-claim` names, and that have a share. */
const CLAIMS: ReadonlyMap<string, string> = new Map([
  ["five_hour", "5h"],
  ["seven_day", "7d"],
  ["seven_day_overage_included", "7d overage-included"],
  ["overage", "overage"],
]);

/** Reads what a service says of its windows besides how much is used (docs/wire.md section 10). */
export function readServiceWords(headers: HeaderIndex): ServiceWords {
  const words = new Map<string, WarnShare>();
  const add = (window: string | undefined, status: string | undefined) => {
    const share = status === "rejected" ? 95 : status === "allowed_warning" ? 80 : null;
    if (window !== undefined && share !== null) words.set(window, share);
  };
  const claim = headers.get("anthropic-ratelimit-unified-representative-claim") ?? "";
  add(CLAIMS.get(claim), headers.get("anthropic-ratelimit-unified-status"));
  for (const [key, name] of PLAN_WINDOWS)
    // An account without extra usage has "rejected" there, always.
    if (name !== "overage") add(name, headers.get(`anthropic-ratelimit-unified-${key}-status`));
  return words;
}

/** Returns what is to be remembered of a warning after this reading: nothing once the window has reset, or less is used. */
export function keepWarned(
  warned: WarnedLimit | undefined,
  reading: WindowReading,
  now: number,
): { warned?: WarnedLimit } {
  if (warned === undefined || now >= warned.until) return {};
  const isLower = !isRefilled(reading) && (reading.usedPercent ?? 0) < (warned.usedPercent ?? 0) - LOWER_BY;
  return isLower ? {} : { warned };
}

/** Returns the windows of an account of which 80 or 95% is used and that were not warned of, or of which the service itself warns. */
export function findLimitWarnings(
  windows: ReadonlyMap<string, SeenWindow>,
  readings: readonly WindowReading[],
  words: ServiceWords,
  now: number,
): LimitWarning[] {
  const found = readings.flatMap(({ window: name }) => {
    const window = windows.get(name);
    return window === undefined ? [] : findWarning(window, words, now);
  });
  // What the service asks to wait for is known then.
  const isFull = [...windows.values(), ...found.map(({ window }) => window)].some(
    ({ window, warned }) => window !== RETRY && warned?.share === 95 && now < warned.until,
  );
  return isFull ? found.filter(({ window }) => window.window !== RETRY) : found;
}

function findWarning(window: SeenWindow, words: ServiceWords, now: number): LimitWarning[] {
  const used = usedShare(window, now);
  const word = words.get(window.window) ?? null;
  const share = word !== null && word > (used ?? 0) ? word : used;
  if (share === null || (window.warned !== undefined && window.warned.share >= share)) return [];
  const says = share === used ? null : share === 95 ? "refuses" : "warns";
  const warned = { share, usedPercent: window.usedPercent, until: warnedUntil(window, now) };
  return [{ window: { ...window, warned }, says }];
}

function usedShare({ window, usedPercent, resetsAt }: SeenWindow, now: number): WarnShare | null {
  if (window === RETRY) return resetsAt !== null && resetsAt - now >= LONG_WAIT_MS ? 95 : null;
  if (usedPercent === null || usedPercent < 80) return null;
  return usedPercent < 95 ? 80 : 95;
}

function warnedUntil(window: SeenWindow, now: number): number {
  if (isRefilled(window)) return Math.max(window.resetsAt ?? 0, now + REFILLED_AGAIN_MS);
  return window.resetsAt ?? now + UNKNOWN_RESET_MS;
}

function isRefilled({ window, limit }: WindowReading): boolean {
  return window === RETRY || limit !== null;
}

/** True for what a file may have as a {@link WarnedLimit}. */
export function isWarnedLimit(value: Readonly<Record<string, unknown>>): boolean {
  const { share, usedPercent, until } = value;
  const isKnown = usedPercent === null || (typeof usedPercent === "number" && usedPercent >= 0);
  return (share === 80 || share === 95) && isKnown && typeof until === "number";
}
