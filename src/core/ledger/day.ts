/**
 * The ledger has one file per UTC day of a record's `ts`, e.g. `2026-11-21.ndjson`, and next to it `2026-11-21.torn` for a
 * line that a crash truncated. Days are written `YYYY-MM-DD`, so they sort and compare as text.
 */
const LEDGER_FILE = /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))\.(ndjson|torn)$/;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The clock is trusted up to this far past the n-th newest day. See {@link oldestKeptDay}. */
const REFERENCE_DAY = 3;
const TRUSTED_MS = 7 * DAY_MS;

/** Returns the UTC day of an ISO 8601 time in UTC. */
export function dayOf(ts: string): string {
  return ts.slice(0, 10);
}

/** Returns the UTC day of a wall time in milliseconds since 1970. */
export function dayAt(time: number): string {
  return dayOf(new Date(time).toISOString());
}

/** Returns the number of UTC days from 1970 to a wall time. Cheaper to compare than {@link dayAt}. */
export function dayNumber(time: number): number {
  return Math.floor(time / DAY_MS);
}

export function dayFileName(day: string): string {
  return `${day}.ndjson`;
}

export function tornFileName(day: string): string {
  return `${day}.torn`;
}

/** Parses the name of a file in the ledger's directory; null for names that are not the ledger's. */
export function parseLedgerFileName(name: string): { day: string; isTorn: boolean } | null {
  const [, day, kind] = LEDGER_FILE.exec(name) ?? [];
  return day === undefined ? null : { day, isTorn: kind === "torn" };
}

/**
 * Returns the first day to keep when files are kept for `retainDays` days; `days` are those that have a file. The clock may
 * be wrong and deletion is final, so `now` is trusted only up to a week past the third newest day: a start or two in a wrong
 * year delete at most a week of old days. After years without a run, the old days go once there are three new ones.
 */
export function oldestKeptDay(days: readonly string[], now: number, retainDays: number): string {
  const sorted = [...new Set(days)].toSorted();
  const reference = sorted.at(-REFERENCE_DAY) ?? sorted[0];
  const trusted = reference === undefined ? now : Math.min(now, Date.parse(reference) + TRUSTED_MS);
  return dayAt(trusted - retainDays * DAY_MS);
}
