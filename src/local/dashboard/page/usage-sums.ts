import type { NamedRow, Sums } from "./feed-types.ts";
import { formatCount, formatDollarsIn, formatShare } from "./numbers.ts";

/** All input tokens. */
export function inputOf({ input_uncached: uncached, cache_read: read, cache_write: write }: Sums): number {
  return uncached + read + write;
}

/**
 * `≥` where a part of it is not known; a word where nothing of it is, and where tokens cost nothing. The words are those of `usage`.
 * @param decimals - those of its column
 */
export function costOf(sums: Sums, decimals?: number): string {
  return (
    wordForCost(sums) ?? `${sums.cost_is_exact ? "" : "≥"}${formatDollarsIn(Number(sums.cost_usd), decimals)}`
  );
}

/** What stands for a cost that is no figure; null for one that is. */
export function wordForCost(sums: Sums): string | null {
  const {
    cost_usd: cost,
    cost_is_exact: isExact,
    unpriced,
    plan_requests: byPlan,
    own_requests: byOwnKey,
  } = sums;
  const isFree = isExact && Number(cost) === 0;
  if (isFree && byPlan > 0) return "plan";
  if (isFree && byOwnKey > 0) return "own";
  if (isFree && inputOf(sums) + sums.output > 0) return "free";
  if (cost === null) return unpriced.length > 0 ? "unpriced" : "unknown";
  return null;
}

/** What plans paid, at the prices of a key: `≥` where a part of it is not known, and empty where none paid anything. */
export function worthOf(
  { plan_worth_usd: worth, plan_worth_is_exact: isExact }: Sums,
  decimals?: number,
): string {
  return worth === null ? "" : `${isExact === true ? "" : "≥"}${formatDollarsIn(Number(worth), decimals)}`;
}

/** The same of what tools paid with keys of their own. */
export function ownWorthOf(
  { own_worth_usd: worth, own_worth_is_exact: isExact }: Sums,
  decimals?: number,
): string {
  return worth === null ? "" : `${isExact === true ? "" : "≥"}${formatDollarsIn(Number(worth), decimals)}`;
}

/** How much of a cost is certain, by the requests and the models: `all counted`, or `98% counted, 1 model unpriced`. */
export function coverageOf({ cost_is_exact: isExact, requests, partial, absent, unpriced }: Sums): string {
  if (isExact) return "all counted";
  const models = new Set(unpriced.map(({ model }) => model)).size;
  const uncounted = partial + absent;
  const parts = [
    ...(uncounted === 0 ? [] : [`${formatShare(requests - uncounted, requests) || "0%"} counted`]),
    ...(models === 0 ? [] : [`${formatCount(models)} ${models === 1 ? "model" : "models"} unpriced`]),
  ];
  return parts.join(", ") || "lower bound";
}

/** Whether a cost is all of it. */
export function certaintyOf({ cost_is_exact: isExact }: Sums): string {
  return isExact ? "exact" : "lower bound";
}

/** What a row is named by a grouping. */
export function nameIn(row: NamedRow, grouping: string): string {
  const name = row[grouping];
  return typeof name === "string" ? name : `(no ${grouping})`;
}

/** Requests that failed, at once or midway, without those that tollkeeper refused: the page `health` counts those. */
export function failedOf({ failed, refused, failed_midway: midway }: Sums): number {
  return failed - refused + midway;
}

/** All requests, as lists have them: `requests` of sums leaves out what failed or was refused. */
export function allOf({ requests, failed }: Sums): number {
  return requests + failed;
}

/** Requests that completed. */
export function completedOf({ requests, cut, failed_midway: midway }: Sums): number {
  return requests - cut - midway;
}

/** How requests ended, with their count. */
interface Ending {
  count: number;
  word: string;
  /** By which the view of requests finds them; none where that has no such choice. */
  outcome?: "failed" | "cut" | "refused";
}

/** Returns what the requests of sums are made of: completed, cut short, failed, refused. What none did is left out. */
export function endingsOf(sums: Sums): Ending[] {
  const { cut, refused } = sums;
  const all: Ending[] = [
    { count: completedOf(sums), word: "completed" },
    { count: cut, word: "cut short", outcome: "cut" },
    { count: failedOf(sums), word: "failed", outcome: "failed" },
    { count: refused, word: "refused", outcome: "refused" },
  ];
  return all.filter(({ count }) => count > 0);
}

/** The same in words: `22 completed, 4 failed, 1 refused`, or `all completed`; empty where there is none. */
export function describeEndings(sums: Sums): string {
  const endings = endingsOf(sums);
  if (endings.length === 1 && endings[0]?.word === "completed") return "all completed";
  return endings.map(({ count, word }) => `${formatCount(count)} ${word}`).join(", ");
}
