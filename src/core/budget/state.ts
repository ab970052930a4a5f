import { isObject, parseJson } from "../json.ts";

/** A tool whose requests no budget refuses for a while; null for all tools. Times are in milliseconds since 1970, here and below. */
export interface Lift {
  tool: string | null;
  from: number;
  until: number;
}

/** A budget whose window starts with this moment, because a person said so. */
export interface Reset {
  /** The budget's id. */
  budget: string;
  at: number;
  /** The latest time that spending had by then. What is dated later than the clock, up to here, does not count before its time. */
  ahead: number;
  /** When it has no effect any more. */
  until: number;
}

/** A warning that was given, and is not given again between these times. */
export interface Warned {
  budget: string;
  share: number;
  from: number;
  until: number;
}

/** What neither the ledger nor the configuration says, and must survive a restart. */
export interface BudgetState {
  lifts: readonly Lift[];
  resets: readonly Reset[];
  warned: readonly Warned[];
}

export const NO_STATE: BudgetState = { lifts: [], resets: [], warned: [] };

const VERSION = 1;

/** Most entries of each kind that a file is read with. */
const MAX_ENTRIES = 10_000;

/** Returns the text of a file that {@link parseState} reads, without what is over at `now`. */
export function encodeState(state: BudgetState, now: number): string {
  const { lifts, resets, warned } = withoutPast(state, now);
  return `${JSON.stringify({ v: VERSION, lifts, resets, warned })}\n`;
}

/** How much longer lifts and resets are kept than they have an effect, in case that the clock is set back. */
const KEPT_MS = 32 * 86_400_000;

/** Leaves out what has no effect any more. */
export function withoutPast({ lifts, resets, warned }: BudgetState, now: number): BudgetState {
  const isKept = ({ until }: { until: number }) => now < until + KEPT_MS;
  return {
    lifts: lifts.filter(isKept),
    resets: resets.filter(isKept),
    warned: warned.filter(({ until }) => now < until),
  };
}

/** Inverts {@link encodeState}. A later release's state is of an `unknown_version`. */
export function parseState(text: string): BudgetState | "unknown_version" | "unreadable" {
  const value = parseJson(text);
  if (!isObject(value) || typeof value["v"] !== "number") return "unreadable";
  if (value["v"] !== VERSION) return "unknown_version";
  const { lifts, resets, warned } = value;
  if (!isList(lifts, isLift) || !isList(resets, isReset) || !isList(warned, isWarned)) return "unreadable";
  return { lifts, resets, warned };
}

function isList<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.length <= MAX_ENTRIES && value.every(isItem);
}

function isLift(value: unknown): value is Lift {
  if (!isObject(value)) return false;
  const { tool, from, until } = value;
  return (tool === null || typeof tool === "string") && isTime(from) && isTime(until);
}

function isReset(value: unknown): value is Reset {
  if (!isObject(value)) return false;
  const { budget, at, ahead, until } = value;
  return typeof budget === "string" && isTime(at) && isTime(ahead) && isTime(until);
}

function isWarned(value: unknown): value is Warned {
  if (!isObject(value)) return false;
  const { budget, share, from, until } = value;
  return typeof budget === "string" && typeof share === "number" && isTime(from) && isTime(until);
}

function isTime(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** How far a clock may be set back before a lift ends. */
const SET_BACK_MS = 5 * 60_000;

/** True when a lift applies to a tool. A clock that is set back must not prolong it. */
export function isLifted(lifts: readonly Lift[], tool: string, now: number): boolean {
  return lifts.some((lift) => (lift.tool === null || lift.tool === tool) && isInForce(lift, now));
}

/** True while a lift applies to its tool. */
export function isInForce({ from, until }: Lift, now: number): boolean {
  return now >= from - SET_BACK_MS && now < until;
}
