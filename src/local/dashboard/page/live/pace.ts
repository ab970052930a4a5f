import type { FeedEntry } from "../feed-types.ts";
import { formatCount, formatDollars } from "../numbers.ts";

const MINUTE_MS = 60_000;
/** The time that a pace is of, at most. */
const MOST_MINUTES = 10;

/**
 * Says what was spent a minute in the last minutes: `$0.123 a minute in the last 10 min`; empty where nothing was, or where less than a minute is known.
 * @param ended - the newest first; where they begin later than 10 minutes ago, the pace is since the oldest
 * @param isMeant - whether an entry counts
 * @param now - milliseconds since 1970
 */
export function paceOf(
  ended: readonly FeedEntry[],
  isMeant: (entry: FeedEntry) => boolean,
  now: number,
): string {
  const oldest = ended.at(-1);
  if (oldest === undefined) return "";
  // As long as the records reach: the oldest is a part of it.
  const since = Math.max(now - MOST_MINUTES * MINUTE_MS, endOf(oldest));
  const minutes = (now - since) / MINUTE_MS;
  if (minutes < 1) return "";
  const costs = ended.flatMap((entry) =>
    "outcome" in entry && endOf(entry) >= since && isMeant(entry) ? [entry.cost] : [],
  );
  const dollars = costs.reduce((sum, cost) => sum + Number(cost?.amount_usd ?? 0), 0);
  if (dollars === 0) return "";
  const isExact = costs.every((cost) => cost !== undefined && cost.is_complete && !cost.is_lower_bound);
  const whole = Math.round(minutes);
  const time = whole === 1 ? "minute" : `${formatCount(whole)} min`;
  return `${isExact ? "" : "≥"}${formatDollars(dollars / minutes)} a minute in the last ${time}`;
}

/** When it ended, in milliseconds since 1970. */
export function endOf(entry: FeedEntry): number {
  return Date.parse(entry.ts) + ("outcome" in entry ? entry.duration_ms : 0);
}
