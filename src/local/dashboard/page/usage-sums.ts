import type { Row, Sums } from "./feed-types.ts";
import { formatDollars } from "./numbers.ts";

/** All input tokens. */
export function inputOf({ input_uncached: uncached, cache_read: read, cache_write: write }: Sums): number {
  return uncached + read + write;
}

/** `≥` where a part of it is not known; a word where nothing of it is, and where tokens cost nothing. The words are those of `usage`. */
export function costOf(sums: Sums): string {
  const { cost_usd: cost, cost_is_exact: isExact, unpriced, plan_requests: byPlan } = sums;
  const isFree = isExact && Number(cost) === 0;
  if (isFree && byPlan > 0) return "plan";
  if (isFree && inputOf(sums) + sums.output > 0) return "free";
  if (cost === null) return unpriced.length > 0 ? "unpriced" : "unknown";
  return `${isExact ? "" : "≥"}${formatDollars(Number(cost))}`;
}

/** What plans paid, at the prices of a key: `≥` where a part of it is not known, and empty where none paid anything. */
export function worthOf({ plan_worth_usd: worth, plan_worth_is_exact: isExact }: Sums): string {
  return worth === null ? "" : `${isExact === true ? "" : "≥"}${formatDollars(Number(worth))}`;
}

/** Whether a cost is all of it. */
export function certaintyOf({ cost_is_exact: isExact }: Sums): string {
  return isExact ? "exact" : "lower bound";
}

/** What a row is named by a grouping. */
export function nameIn(row: Row, grouping: string): string {
  const name = row[grouping];
  return typeof name === "string" ? name : `(no ${grouping})`;
}

/** Requests that failed, without those that tollkeeper refused: the page `health` counts those. */
export function failedOf({ failed, refused }: Sums): number {
  return failed - refused;
}
