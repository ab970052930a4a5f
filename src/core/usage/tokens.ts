import type { ExtraTokens, Flag, Reading, Tokens } from "./reading.ts";

/** Cache writes by how long they live; a lifetime that the service does not name is left out. */
export interface Lifetimes {
  m5?: number;
  h1?: number;
  m30?: number;
  h12?: number;
}

/** What a service's usage object says, with input already free of what was read from and written to cache. */
export interface Counts {
  uncached: number | null;
  read: number | null;
  write: number | null;
  /** null: nothing is said about lifetimes. */
  lifetimes: Lifetimes | null;
  /** Reasoning included. */
  output: number | null;
  reasoning: number | null;
}

/** The counts that a {@link Tokens} and an {@link ExtraTokens} share. */
export type TokenClasses = Omit<ExtraTokens, "type" | "model" | "billable">;

/** Is anything said about input? Without it the counts are a lower bound. */
export function hasInput(counts: Counts): boolean {
  return counts.uncached !== null || counts.read !== null || counts.write !== null;
}

/** The sum over all lifetimes; 0 where none is named. */
export function sumLifetimes({ m5 = 0, h1 = 0, m30 = 0, h12 = 0 }: Lifetimes): number {
  return m5 + h1 + m30 + h12;
}

/**
 * Fills what the service left out with 0, and makes the lifetimes add up to the cache writes: the total is right
 * where the two differ, because only the total is kept up to date while a stream goes on (usage.md section 1.1, traps).
 */
export function classesOf(counts: Counts, flags: Set<Flag>): TokenClasses {
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

/** The counts in the ledger's shape; null when the service gave none at all. */
export function tokensOf(counts: Counts, flags: Set<Flag>): Tokens | null {
  if (!hasInput(counts) && counts.output === null) return null;
  const classes = classesOf(counts, flags);
  const inputTotal = sumInput(classes);
  const { reasoning } = counts;
  // Each by its name: to add to a spread copy takes 2.8 µs.
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
    // More reasoning than output cannot be a part of it: such a figure says nothing.
    reasoning: reasoning !== null && reasoning <= classes.output ? reasoning : null,
    total: inputTotal + classes.output,
  };
}

/** All tokens of an answer, those that its top-level usage leaves out included; null when none are known. */
export function grandTotal({ tokens, extra }: Reading): number | null {
  return tokens === null ? null : tokens.total + sumTokens(extra);
}

/** The part of {@link grandTotal} that is billed in some cases only; 0 when there is none. */
export function maybeUnbilled({ extra }: Reading): number {
  return sumTokens(extra.filter(({ billable }) => billable === null));
}

function sumInput(classes: TokenClasses): number {
  return classes.input_uncached + classes.cache_read + classes.cache_write;
}

function sumTokens(sets: TokenClasses[]): number {
  return sets.reduce((sum, classes) => sum + sumInput(classes) + classes.output, 0);
}
