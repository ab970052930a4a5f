import { median } from "../helpers/process/process-metrics.ts";

/** One figure over all rounds. */
export interface Summary {
  median: number;
  min: number;
  max: number;
}

export function summarise(values: readonly number[]): Summary {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/**
 * Returns the median of the ratios of each round, so that a busy round affects both sides. NaN when the other's value is not positive,
 * such as an added time below the noise.
 */
export function medianRatio(values: readonly number[], others: readonly number[]): number {
  const ratios = values.map((value, round) => {
    const other = others[round] ?? Number.NaN;
    return other > 0 ? value / other : Number.NaN;
  });
  return median(ratios);
}

/**
 * Returns the median, and between which of the values that of all such values lies in at least 95 of 100 samples. Assumes nothing about
 * their distribution: how many values lie below the true median is as in throws of a coin. Needs six values; fewer give NaN.
 */
export function medianInterval(values: readonly number[]): { median: number; low: number; high: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  // How many of the least, and of the greatest, can be left out.
  let spare = -1;
  for (let atMost = 0.5 ** count, ways = 1; atMost <= 0.025; atMost += ways * 0.5 ** count) {
    spare += 1;
    ways = (ways * (count - spare)) / (spare + 1);
  }
  return {
    median: median(values),
    low: sorted[spare] ?? Number.NaN,
    high: sorted[count - 1 - spare] ?? Number.NaN,
  };
}
