import type { BatchTerms, ExtraTokens, Flag, Tokens } from "./reading.ts";

/** Tokens written to cache, by the lifetime of the entry. Lifetimes that the service does not report are left out. */
export interface CacheLifetimes {
  m5?: number;
  h1?: number;
  m30?: number;
  h12?: number;
}

/** The counts of a service's usage object; null where it does not say. */
export interface UsageCounts {
  /** Input tokens that were neither read from nor written to cache. */
  uncached: number | null;
  read: number | null;
  write: number | null;
  /** null when nothing is said about lifetimes. */
  lifetimes: CacheLifetimes | null;
  /** Includes reasoning. */
  output: number | null;
  reasoning: number | null;
}

/** The counts that {@link Tokens} and {@link ExtraTokens} share. */
export type TokenClasses = Omit<ExtraTokens, "type" | "model" | "billable" | keyof BatchTerms>;

/** Returns how large the input is, cached input included. */
export function sizeOf(set: Pick<TokenClasses, "input_uncached" | "cache_read" | "cache_write">): number {
  return set.input_uncached + set.cache_read + set.cache_write;
}

/** True when an input count is known. Otherwise the counts are only a lower bound. */
export function hasInput(counts: UsageCounts): boolean {
  return counts.uncached !== null || counts.read !== null || counts.write !== null;
}

/** Returns the sum over all lifetimes. */
export function sumLifetimes({ m5 = 0, h1 = 0, m30 = 0, h12 = 0 }: CacheLifetimes): number {
  return m5 + h1 + m30 + h12;
}

/**
 * Replaces unknown counts by 0, and makes the lifetimes add up to the cache writes. Where the two differ the total is right,
 * because services update only the total during a stream (docs/wire.md section 5).
 */
export function toTokenClasses(counts: UsageCounts, flags: Set<Flag>): TokenClasses {
  const write = counts.write ?? 0;
  const unknown = write - sumLifetimes(counts.lifetimes ?? {});
  if (counts.lifetimes !== null && unknown > 0) flags.add("cache_write_split_stale");
  if (unknown < 0) flags.add("cache_write_split_exceeds_total");
  const lifetimes = unknown < 0 ? {} : (counts.lifetimes ?? {});
  return {
    input_uncached: counts.uncached ?? 0,
    cache_read: counts.read ?? 0,
    cache_write: write,
    cache_write_5m: lifetimes.m5 ?? 0,
    cache_write_1h: lifetimes.h1 ?? 0,
    cache_write_30m: lifetimes.m30 ?? 0,
    cache_write_12h: lifetimes.h12 ?? 0,
    cache_write_ttl_unknown: unknown < 0 ? write : unknown,
    output: counts.output ?? 0,
  };
}

/** Converts counts to the ledger's form; null when the service gave none at all. */
export function toTokens(counts: UsageCounts, flags: Set<Flag>): Tokens | null {
  if (!hasInput(counts) && counts.output === null) return null;
  const classes = toTokenClasses(counts, flags);
  const inputTotal = classes.input_uncached + classes.cache_read + classes.cache_write;
  const { reasoning } = counts;
  // Every member is written out, because a spread copy takes 2.8 µs.
  return {
    input_uncached: classes.input_uncached,
    cache_read: classes.cache_read,
    cache_write: classes.cache_write,
    cache_write_5m: classes.cache_write_5m,
    cache_write_1h: classes.cache_write_1h,
    cache_write_30m: classes.cache_write_30m,
    cache_write_12h: classes.cache_write_12h,
    cache_write_ttl_unknown: classes.cache_write_ttl_unknown,
    output: classes.output,
    input_total: inputTotal,
    // More reasoning than output must be wrong, because output includes it.
    reasoning: reasoning !== null && reasoning <= classes.output ? reasoning : null,
    total: inputTotal + classes.output,
  };
}
