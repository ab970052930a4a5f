/**
 * The ledger has one file per UTC day of a record's `ts`, e.g. `2026-11-21.ndjson`, which is compressed to `2026-11-21.ndjson.gz` when
 * the day is over. Next to it are its sums, `2026-11-21.rollup`, and those with all names and hours, `2026-11-21.details`: both are caches. When its records are deleted, its
 * sums become `2026-11-21.kept`, the only copy. `2026-11-21.torn` has notes of running requests that a crash truncated. Days are written `YYYY-MM-DD`, so they sort and compare as text.
 * `2026-11.month` has the sums of the rollups of a month, a cache, too.
 */
const LEDGER_FILE =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))\.(ndjson|ndjson\.gz|rollup|details|kept|torn)$/;

/** What is in a file of the ledger: records, or the sums of a day, or truncated notes. */
export type LedgerFileKind = "records" | "compressed" | SumsKind | "torn";

/** The sums of a day that are caches: `details` has all that a report can ask for. */
export type RollupKind = "rollup" | "details";

/** Those, and the rollup of a day whose records are deleted, which is kept. */
export type SumsKind = RollupKind | "kept";

const KINDS: Readonly<Record<string, LedgerFileKind>> = {
  ndjson: "records",
  "ndjson.gz": "compressed",
  rollup: "rollup",
  details: "details",
  kept: "kept",
  torn: "torn",
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** So many days with records confirm the first of them. See {@link oldestKeptDay}. */
const CONFIRMING_DAYS = 3;

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

export function compressedFileName(day: string): string {
  return `${day}.ndjson.gz`;
}

export function sumsFileName(day: string, kind: SumsKind): string {
  return `${day}.${kind}`;
}

/** Returns the files that a day's records may be in. The first one has the older records. */
export function recordFileNames(day: string): [compressed: string, open: string] {
  return [compressedFileName(day), dayFileName(day)];
}

/** Returns the file that has the sums of a whole month, `YYYY-MM`: a cache. */
export function monthFileName(month: string): string {
  return `${month}.month`;
}

/** True for the name of such a file. */
export function isMonthFileName(name: string): boolean {
  return /^\d{4}-(?:0[1-9]|1[0-2])\.month$/.test(name);
}

/** Returns the month of a day. */
export function monthOf(day: string): string {
  return day.slice(0, 7);
}

export function tornFileName(day: string): string {
  return `${day}.torn`;
}

/** Parses the name of a file in the ledger's directory; null for names that are not the ledger's. */
export function parseLedgerFileName(name: string): { day: string; kind: LedgerFileKind } | null {
  const [, day, extension = ""] = LEDGER_FILE.exec(name) ?? [];
  const kind = KINDS[extension];
  return day === undefined || kind === undefined ? null : { day, kind };
}

/** True for the name of a compressed file. */
export function isCompressed(name: string): boolean {
  return name.endsWith(".gz");
}

/** True for a file with records, of which a day may have two: what is written after it was compressed is in another one. */
export function hasRecords({ kind }: { kind: LedgerFileKind }): boolean {
  return kind === "records" || kind === "compressed";
}

/** True for a file with the sums of a day. */
export function isSums(kind: LedgerFileKind): kind is SumsKind {
  return kind === "rollup" || kind === "details" || kind === "kept";
}

/**
 * True for a day that is over, at `now` in milliseconds since 1970: no record of it is expected any more. The day before today is not:
 * a record is written when its response ends, to the day on which the request arrived.
 */
export function isClosed(day: string, now: number): boolean {
  return day < addDays(dayAt(now), -1);
}

/**
 * Returns the first day to keep when files are kept for `retainDays` days; `days` are those that have a file. Deletion is
 * final and a clock may be wrong, so `now` only counts as far as the ledger confirms it: up to the third newest day that has
 * a file, and on from there as long as each day follows the one before. A clock that leaps two days or more deletes nothing
 * because of the leap before there are records of three days after it; one that is behind deletes less.
 */
export function oldestKeptDay(days: readonly string[], now: number, retainDays: number): string {
  return addDays(confirmedDay(days, dayAt(now)), -retainDays);
}

/**
 * Returns which of these days may be removed to have none before `before`: not today, at `now` in milliseconds since 1970, and not the
 * newest, which a daemon may have open.
 */
export function removableDays(days: readonly string[], before: string, now: number): Set<string> {
  const [today, newest] = [dayAt(now), days.toSorted().at(-1)];
  return new Set(days.filter((day) => day < before && day < today && day !== newest));
}

function confirmedDay(days: readonly string[], today: string): string {
  const past = [...new Set(days)].filter((day) => day < today).toSorted();
  let confirmed = past.at(-CONFIRMING_DAYS) ?? past[0] ?? today;
  for (const day of [...past, today]) if (day === addDays(confirmed, 1)) confirmed = day;
  return confirmed;
}

function addDays(day: string, count: number): string {
  return dayAt(Date.parse(day) + count * DAY_MS);
}
