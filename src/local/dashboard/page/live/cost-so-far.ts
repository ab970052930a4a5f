import type { RunningRequest } from "../../../../core/ledger/running-request.ts";
import type { FeedEntry } from "../feed-types.ts";

/** The classes of input, by their names in prices. */
const INPUT = [
  "input_uncached",
  "cache_read",
  "cache_write_5m",
  "cache_write_30m",
  "cache_write_1h",
  "cache_write_12h",
  "cache_write_ttl_unknown",
] as const;

/**
 * Returns what the input of a running request costs at least, in dollars; null where that is not known. The page has no prices: it takes
 * those of requests that ended for the same model. A long prompt may have a higher price, so none of a longer one counts.
 */
export function costSoFar(
  { tokens, model, upstream }: RunningRequest,
  ended: readonly FeedEntry[],
): number | null {
  if (tokens === null) return null;
  const lines = ended.flatMap((entry) =>
    "outcome" in entry &&
    entry.model === model &&
    entry.upstream === upstream &&
    (entry.tokens?.input_total ?? Infinity) <= tokens.input_total
      ? (entry.cost?.lines ?? [])
      : [],
  );
  let dollars = 0;
  for (const name of INPUT) {
    if (!(tokens[name] > 0)) continue;
    const prices = lines
      .filter((line) => line.class === name)
      .map(({ amount_usd: amount, count }) => Number(amount) / count);
    if (prices.length === 0) return null;
    dollars += tokens[name] * Math.min(...prices);
  }
  return dollars === 0 ? null : dollars;
}
