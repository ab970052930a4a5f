import type { Choice } from "../decide/choose-upstream.ts";
import { isObject, parseJson } from "../json.ts";
import { isPaidByTool } from "../plans/names.ts";
import { isWindowName } from "./limit-names.ts";
import { isWarnedLimit, keepWarned, type SeenWindow } from "./limit-warnings.ts";
import type { WindowReading } from "./read-limits.ts";
import type { WindowResets } from "./window-history.ts";

/** The windows of each account by their names. */
type SeenLimits = ReadonlyMap<string, ReadonlyMap<string, SeenWindow>>;

/** What is known of an account's limits. Times are ISO 8601, UTC. */
export interface AccountStatus {
  account: string;
  windows: WindowStatus[];
}

/** What is known of one window. `state` is `reset` from its reset on, until a response says more. */
export interface WindowStatus {
  window: string;
  state: "seen" | "reset";
  usedPercent: number | null;
  limit: number | null;
  remaining: number | null;
  resetsAt: string | null;
  seenAt: string;
}

const VERSION = 1;
/** Longer ago says nothing of today. */
const KEEP_MS = 31 * 24 * 3600 * 1000;
/** So many windows of an account are kept; services have about ten. */
const MOST_WINDOWS = 32;

/**
 * Names the account that pays for a request: by its upstream, and by its key where that is not the upstream's own. A plan's account, and
 * a tool's own key, has its name as its key.
 */
export function nameAccount({ upstream, key }: Pick<Choice, "upstream" | "key">): string {
  if (isPaidByTool(upstream.recordedAs)) return key.name;
  return key.name === upstream.key ? upstream.name : `${upstream.name}/${key.name}`;
}

/** Returns what the records have whose requests an account paid: inverts {@link nameAccount}. */
export function payerOf(
  account: string,
  upstreams: Readonly<Record<string, { key: string }>>,
): { upstream: string; key: string } {
  const [upstream = "", part] = account.split("/");
  const key = isPaidByTool(account) ? account : part;
  const own = Object.hasOwn(upstreams, upstream) ? upstreams[upstream]?.key : undefined;
  return { upstream, key: key ?? own ?? upstream };
}

/** Returns the limits with what was just said: the newest counts, also where it is lower, because a window may reset early. */
export function addReadings(
  windows: ReadonlyMap<string, SeenWindow> | undefined,
  readings: readonly WindowReading[],
  now: number,
): Map<string, SeenWindow> {
  const added = new Map(windows);
  for (const reading of readings) {
    const before = added.get(reading.window);
    if (before !== undefined || added.size < MOST_WINDOWS)
      added.set(reading.window, { ...reading, seenAt: now, ...keepWarned(before?.warned, reading, now) });
  }
  return added;
}

/** Describes all limits, those that are used most first. */
export function describeLimits(seen: SeenLimits, now: number): AccountStatus[] {
  const accounts = [...seen].map(([account, windows]) => {
    const known = [...windows.values()].filter(({ seenAt }) => now - seenAt <= KEEP_MS);
    return { account, windows: known.map((window) => describeSeen(window, now)).toSorted(byUse) };
  });
  return accounts.filter(({ windows }) => windows.length > 0);
}

/** By what is used: reset windows are last. */
function byUse(one: WindowStatus, other: WindowStatus): number {
  const use = ({ state, usedPercent }: WindowStatus) => (state === "reset" ? -1 : (usedPercent ?? Infinity));
  return use(one) === use(other) ? 0 : use(other) - use(one);
}

function describeSeen(
  { seenAt, resetsAt, warned: _internal, ...reading }: SeenWindow,
  now: number,
): WindowStatus {
  return {
    ...reading,
    state: resetsAt !== null && resetsAt <= now ? "reset" : "seen",
    resetsAt: resetsAt === null ? null : new Date(resetsAt).toISOString(),
    seenAt: new Date(seenAt).toISOString(),
  };
}

/** Returns the text of a file that {@link parseLimits} and `parseResets` read. */
export function encodeLimits(seen: SeenLimits, history: ReadonlyMap<string, WindowResets>): string {
  const accounts = [...seen].map(([account, windows]) => {
    const resets = Object.fromEntries(history.get(account) ?? []);
    return { account, windows: [...windows.values()], resets };
  });
  return `${JSON.stringify({ v: VERSION, accounts })}\n`;
}

/** Inverts {@link encodeLimits}; null for a text that is damaged, or of a later release. */
export function parseLimits(text: string): Map<string, Map<string, SeenWindow>> | null {
  const value = parseJson(text);
  if (!isObject(value) || value["v"] !== VERSION || !Array.isArray(value["accounts"])) return null;
  const seen = new Map<string, Map<string, SeenWindow>>();
  for (const one of value["accounts"] as unknown[]) {
    if (!isObject(one) || typeof one["account"] !== "string" || !Array.isArray(one["windows"])) return null;
    const windows: unknown[] = one["windows"];
    if (!windows.every(isSeen)) return null;
    seen.set(one["account"], new Map(windows.map((window) => [window.window, window])));
  }
  return seen;
}

function isSeen(value: unknown): value is SeenWindow {
  if (!isObject(value)) return false;
  const { window, usedPercent, limit, remaining, resetsAt, seenAt, warned } = value;
  const isKnown = [usedPercent, limit, remaining, resetsAt].every((one) => one === null || isTime(one));
  return typeof window === "string" && isWindowName(window) && isKnown && isTime(seenAt) && isWarned(warned);
}

function isWarned(value: unknown): boolean {
  return value === undefined || (isObject(value) && isWarnedLimit(value));
}

/** True for a number that a `Date` takes, as all these numbers may be. */
function isTime(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 8.64e15;
}
