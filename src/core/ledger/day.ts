/**
 * The ledger keeps one file per UTC day of a record's `ts`: `2026-11-21.ndjson`, and beside it `2026-11-21.torn` where a
 * line was set aside that a crash had cut off. Days are written `YYYY-MM-DD`, so they sort and compare as text.
 */
const LEDGER_FILE = /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))\.(ndjson|torn)$/;

const DAY_MS = 24 * 60 * 60 * 1000;

/** As many days must have a file to bear a date out, and this is how far past them the clock is believed. */
const WITNESSES = 3;
const BELIEVED_MS = 7 * DAY_MS;

/** UTC day of an ISO 8601 time in UTC. */
export function dayOf(ts: string): string {
  return ts.slice(0, 10);
}

/** UTC day of a wall time in milliseconds since 1970. */
export function dayAt(time: number): string {
  return dayOf(new Date(time).toISOString());
}

/** UTC days since 1970 of a wall time: tells two days apart without writing out either. */
export function dayNumber(time: number): number {
  return Math.floor(time / DAY_MS);
}

export function dayFileName(day: string): string {
  return `${day}.ndjson`;
}

export function tornFileName(day: string): string {
  return `${day}.torn`;
}

/** What a file name in the ledger's directory says; null for names that are not the ledger's. */
export function parseLedgerFileName(name: string): { day: string; isTorn: boolean } | null {
  const [, day, kind] = LEDGER_FILE.exec(name) ?? [];
  return day === undefined ? null : { day, isTorn: kind === "torn" };
}

/**
 * The oldest of `days` that is kept when files are for `retainDays` days. The clock may be wrong, and what is deleted is
 * gone, so `now` is believed up to a week past the third newest day: a start or two in a wrong year cost a week's
 * worth of old days at most. Where the machine was off for years, the old days go once there are three new ones.
 */
export function oldestKeptDay(days: readonly string[], now: number, retainDays: number): string {
  const sorted = [...new Set(days)].toSorted();
  const witness = sorted.at(-WITNESSES) ?? sorted[0];
  const believed = witness === undefined ? now : Math.min(now, Date.parse(witness) + BELIEVED_MS);
  return dayAt(believed - retainDays * DAY_MS);
}
