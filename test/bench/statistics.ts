import { median } from "../chaos/process-figures.ts";

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
 * How many times the other's value: the median of the ratios of each round, so that a busy round hits both sides. NaN
 * where the other's is nothing or less, as an added time that is lost in the noise.
 */
export function medianRatio(values: readonly number[], others: readonly number[]): number {
  const ratios = values.map((value, round) => {
    const other = others[round] ?? Number.NaN;
    return other > 0 ? value / other : Number.NaN;
  });
  return median(ratios);
}
