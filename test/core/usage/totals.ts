import type { ExtraTokens, MeterReading } from "../../../src/core/usage/reading.ts";

/** Returns all tokens of a response, including those that its top-level usage leaves out; null when unknown. */
export function grandTotal({ tokens, extra }: MeterReading): number | null {
  return tokens === null ? null : tokens.total + sumTokens(extra);
}

/** Returns the part of {@link grandTotal} that is billed only in some cases. */
export function maybeUnbilled({ extra }: MeterReading): number {
  return sumTokens(extra.filter(({ billable }) => billable === null));
}

function sumTokens(sets: readonly ExtraTokens[]): number {
  return sets.reduce(
    (sum, set) => sum + set.input_uncached + set.cache_read + set.cache_write + set.output,
    0,
  );
}
