/** What is usual of amounts that are positive: their middle, and how far they lie apart. */
export interface Usual {
  /** How many amounts it is known from. */
  count: number;
  median: number;
  /** Standard deviation of their natural logarithms, estimated so that single amounts hardly move it. */
  spread: number;
}

/** The median absolute deviation of a normal distribution, as a part of its standard deviation. */
const MAD_OF_NORMAL = 0.6745;

/** Upper quantiles that also tell the spread: many small amounts beside some large ones have a small median deviation. */
const UPPER_QUANTILES = [0.9, 0.95, 0.98];

/** A quantile counts if so many amounts lie above it, so that one of them alone cannot widen the spread. */
const LEAST_ABOVE = 2;

/** Amounts that are nearly all the same still differ by a quarter now and then. */
const LEAST_SPREAD = 0.25;

/** With few amounts the spread is estimated too small every other time: with 10 it counts as 1.4 times as large. */
const SPREAD_ERROR = 4;

/** Returns what is usual of positive amounts. Their logarithms are compared, because costs differ by factors. */
export function describeUsual(amounts: readonly number[]): Usual {
  const logs = amounts.map((amount) => Math.log(amount)).toSorted((one, other) => one - other);
  const count = logs.length;
  const middle = quantileOf(logs, 0.5);
  const distances = logs.map((log) => Math.abs(log - middle)).toSorted((one, other) => one - other);
  const upper = UPPER_QUANTILES.filter((share) => count * (1 - share) >= LEAST_ABOVE).map(
    (share) => (quantileOf(logs, share) - middle) / normalQuantile(1 - share),
  );
  const spread = Math.max(LEAST_SPREAD, quantileOf(distances, 0.5) / MAD_OF_NORMAL, ...upper);
  return { count, median: Math.exp(middle), spread };
}

/**
 * Returns the amount that one of `judged` amounts exceeds with the probability `chance` if all of them are as usual, for logarithms that
 * are normally distributed.
 */
export function limitOf({ count, median, spread }: Usual, judged: number, chance: number): number {
  const deviations = normalQuantile(chance / Math.max(1, judged));
  return median * Math.exp(deviations * spread * (1 + SPREAD_ERROR / count));
}

/** Returns the median of numbers; null without any. */
export function medianOf(numbers: readonly number[]): number | null {
  return numbers.length === 0
    ? null
    : quantileOf(
        numbers.toSorted((one, other) => one - other),
        0.5,
      );
}

/** Interpolates between the two nearest. */
function quantileOf(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

/** Returns how many standard deviations above the mean a share below one half lies (Abramowitz and Stegun, 26.2.22; off by 0.003 at most). */
function normalQuantile(share: number): number {
  const t = Math.sqrt(-2 * Math.log(share));
  return t - (2.30753 + 0.27061 * t) / (1 + 0.99229 * t + 0.04481 * t * t);
}
