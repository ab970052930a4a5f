import type { Budget } from "./budget.ts";
import type { BudgetBook } from "./book.ts";
import type { Gauge } from "./gauge.ts";

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

export function standingsOf({ gauges }: BudgetBook, now: number): BudgetStanding[] {
  return gauges.map((gauge) => standingOf(gauge, now));
}

function standingOf(gauge: Gauge, now: number): BudgetStanding {
  const { budget, reserved } = gauge;
  const spent = gauge.spent(now);
  const { start, until } = gauge.window(now);
  const isRolling = "rolling" in budget.window;
  const passed = BigInt(Math.max(1, Math.floor(now - start)));
  const left = budget.amount - spent;
  const spentAt = spent > 0n && left > 0n ? now + Number((left * passed) / spent) : null;
  return {
    budget,
    spent,
    assumed: gauge.assumed(now),
    assumedFor: gauge.unpriced(now),
    reserved,
    percent: gauge.percent(now),
    since: start,
    until: isRolling ? now : until,
    opensAt: left > 0n ? null : gauge.opensAt(now),
    perHour: (spent * BigInt(HOUR_MS)) / passed,
    spentAt: isRolling || spentAt === null || spentAt >= until ? null : spentAt,
    isWhole: gauge.isWhole(now),
  };
}
