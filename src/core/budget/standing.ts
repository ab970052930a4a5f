import type { Budget } from "./budget.ts";
import type { BudgetBook } from "./book.ts";
import type { Meter } from "./meter.ts";

const HOUR_MS = 3_600_000;

/** Where a budget stands. Amounts are in its unit, times in milliseconds since 1970. */
export interface BudgetStanding {
  budget: Budget;
  spent: bigint;
  /** The part of `spent` that is assumed. */
  assumed: bigint;
  /** The models whose prices are assumed, and how much of `assumed` is theirs, the most first. */
  assumedFor: readonly (readonly [model: string, assumed: bigint])[];
  /** What running requests are reserved for. */
  reserved: bigint;
  percent: number;
  /** The window, which starts later after a reset. A rolling one ends with the present. */
  since: number;
  until: number;
  /** When a spent budget opens again; null for one that is not spent, and for one that never opens. */
  opensAt: number | null;
  /** What was spent in an hour of the window so far, on average. */
  perHour: bigint;
  /** When the rest will have been spent at this rate; null when the window ends first, and for a rolling one. */
  spentAt: number | null;
  /** False when not all of the window has been counted, so that more may be spent. */
  isWhole: boolean;
}

export function standingsOf({ meters }: BudgetBook, now: number): BudgetStanding[] {
  return meters.map((meter) => standingOf(meter, now));
}

function standingOf(meter: Meter, now: number): BudgetStanding {
  const { budget, reserved } = meter;
  const spent = meter.spent(now);
  const { start, until } = meter.window(now);
  const isRolling = "rolling" in budget.window;
  const passed = BigInt(Math.max(1, Math.floor(now - start)));
  const left = budget.amount - spent;
  const spentAt = spent > 0n && left > 0n ? now + Number((left * passed) / spent) : null;
  return {
    budget,
    spent,
    assumed: meter.assumed(now),
    assumedFor: meter.unpriced(now),
    reserved,
    percent: meter.percent(now),
    since: start,
    until: isRolling ? now : until,
    opensAt: left > 0n ? null : meter.opensAt(now),
    perHour: (spent * BigInt(HOUR_MS)) / passed,
    spentAt: isRolling || spentAt === null || spentAt >= until ? null : spentAt,
    isWhole: meter.isWhole(now),
  };
}
