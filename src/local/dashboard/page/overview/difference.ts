import { formatMoney, parseMoney } from "../../../../core/price/money.ts";
import type { Sums } from "../feed-types.ts";
import { formatDollarsIn, numberFormat } from "../numbers.ts";

/** A smaller difference of shares says nothing. */
const LEAST_POINTS = 0.05;

/** One digit that counts, for less than a point. */
const FRACTION = numberFormat({ maximumSignificantDigits: 1 });

/** Dollars that a cost is above another one, by the exact amounts, as far as a number can be exact. */
export function differenceOf(now: Sums | null, before: Sums | null): number {
  const difference = moneyOf(now) - moneyOf(before);
  return difference < 0n ? -Number(formatMoney(-difference)) : Number(formatMoney(difference));
}

/**
 * Writes how much a cost is above another one, such as `+$7.70`, as costs are written everywhere. It comes from the exact amounts, so that it
 * may be a cent off the shown costs. `≥` or `≤` stands before it where one of the costs is not exact. Empty where neither is known to be
 * anything.
 */
export function describeDifferenceOf(now: Sums | null, before: Sums | null, decimals?: number): string {
  if (moneyOf(now) === 0n && moneyOf(before) === 0n) return "";
  const difference = differenceOf(now, before);
  return `${boundOfDifference(now, before)}${difference > 0 ? "+" : ""}${formatDollarsIn(difference, decimals)}`;
}

/** Writes how many points a share is above another one: `−4 points`; empty where they are as good as equal. */
export function describePoints(now: number, before: number): string {
  const points = 100 * (now - before);
  if (Math.abs(points) < LEAST_POINTS) return "";
  const size = Math.abs(points);
  const shown = size < 1 ? FRACTION.format(size) : String(Math.round(size));
  return `${points > 0 ? "+" : "−"}${shown} ${shown === "1" ? "point" : "points"}`;
}

function moneyOf(sums: Sums | null): bigint {
  return parseMoney(sums?.cost_usd ?? "0") ?? 0n;
}

/** What a difference may be besides the shown one: more where only the first cost may be, less where only the second may be. */
function boundOfDifference(now: Sums | null, before: Sums | null): string {
  const [isNowExact, isBeforeExact] = [now, before].map((sums) => sums === null || sums.cost_is_exact);
  if (isNowExact === isBeforeExact) return "";
  return isNowExact === true ? "≤" : "≥";
}
