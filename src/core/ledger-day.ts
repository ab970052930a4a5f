/**
 * The ledger keeps one file per UTC day of a record's `ts`: `2026-11-21.ndjson`, and beside it `2026-11-21.torn` where a
 * line was set aside that a crash had cut off. Days are written `YYYY-MM-DD`, so they sort and compare as text.
 */
const LEDGER_FILE = /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))\.(ndjson|torn)$/;

/** UTC day of an ISO 8601 time in UTC. */
export function dayOf(ts: string): string {
  return ts.slice(0, 10);
}

/** UTC day of a wall time in milliseconds since 1970. */
export function dayAt(time: number): string {
  return dayOf(new Date(time).toISOString());
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
