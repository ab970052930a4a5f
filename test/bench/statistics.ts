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
