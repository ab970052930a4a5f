import { DAY_START, type DayPosition, type LedgerCursor } from "../../../core/ledger/after/cursor.ts";
import { dayAt, isCompressed } from "../../../core/ledger/day.ts";
import { parseRecord } from "../../../core/ledger/parse-record.ts";
import { readQuickly } from "../../../core/ledger/quick-record.ts";
import type { SummableRecord, UsageRecord } from "../../../core/ledger/record.ts";
import { listRecordedDays, type LedgerDay } from "../closed-days/list-days.ts";
import { endOfDay, readDayAfter, type DayBlock } from "./day-after.ts";
import { linesOf } from "./line-blocks.ts";

/** Records that were appended after a cursor, in the order of their days and then of the files. */
export interface LedgerBatch {
  records: UsageRecord[];
  /** Lines that are no records: damaged, or not written by tollkeeper. */
  unreadable: number;
  /** Records of a later release. */
  unknownVersion: number;
  /** The cursor after all of these. */
  cursor: LedgerCursor;
}

/**
 * Yields what was appended to a ledger after `cursor`, in batches of at most 512 KiB of lines, also what arrives while it reads; ends when
 * nothing is left, or at `until`. Also finds what was compressed meanwhile, and records that are added late to an earlier day. A last line
 * without an end is left for the next call. Gives other work a turn between two batches. Throws a Failure when a file cannot be opened.
 */
export async function* readLedgerAfter(
  directory: string,
  cursor: LedgerCursor,
  until: LedgerCursor | null = null,
): AsyncGenerator<LedgerBatch> {
  const { since } = cursor;
  const found = listRecordedDays(directory);
  let days = withoutDeleted(cursor.days, found);
  for (const { day, files } of found) {
    const from = days[day] ?? DAY_START;
    const end = until === null ? null : (until.days[day] ?? DAY_START);
    if (end === null ? isAtEnd(directory, { day, files }, from) : areEqual(from, end)) continue;
    for await (const block of readDayAfter(directory, day, from, end)) {
      days = { ...days, [day]: block.position };
      yield { ...parseBlock(block, since), cursor: { days, since } };
    }
  }
}

/**
 * Calls `visit` with the records of one day up to a position, for sums, which lack what no sum needs (`readQuickly`). None of them is kept,
 * so that memory stays small. Throws likewise.
 */
export async function visitDayUntil(
  directory: string,
  day: string,
  until: DayPosition,
  visit: (record: SummableRecord) => void,
): Promise<void> {
  for await (const { bytes } of readDayAfter(directory, day, DAY_START, until))
    for (const line of linesOf({ bytes, isWhole: true })) {
      const record = readQuickly(line) ?? parseRecord(line);
      if (typeof record !== "string") visit(record);
    }
}

/**
 * Returns a cursor after everything that a ledger has now, of the days before `before`; without it, of all. A last line without an end comes
 * after it. Synchronous: what this process appends later is after it, too. Throws a Failure when the directory or a file cannot be opened.
 */
export function cursorAtEnd(directory: string, before?: string): LedgerCursor {
  const days = listRecordedDays(directory).filter(({ day }) => before === undefined || day < before);
  return { days: Object.fromEntries(days.map(({ day }) => [day, endOfDay(directory, day)])), since: null };
}

/** Returns a cursor before the first record whose request arrived at `moment`, in milliseconds since 1970, or later. Throws likewise. */
export function cursorAt(directory: string, moment: number): LedgerCursor {
  return { ...cursorAtEnd(directory, dayAt(moment)), since: new Date(moment).toISOString() };
}

/** Forgets the days that are deleted: those before the oldest that is there. A directory that is not mounted has deleted nothing. */
function withoutDeleted(days: LedgerCursor["days"], [oldest]: readonly LedgerDay[]): LedgerCursor["days"] {
  if (oldest === undefined) return days;
  return Object.fromEntries(Object.entries(days).filter(([day]) => day >= oldest.day));
}

/** True when a day has nothing after a position. An open file of the same length may be another one, which begins with another line. */
function isAtEnd(
  directory: string,
  { day, files }: Pick<LedgerDay, "day" | "files">,
  from: DayPosition,
): boolean {
  const bytesOf = (isOf: (name: string) => boolean) => files.find(({ name }) => isOf(name))?.bytes ?? 0;
  if (bytesOf(isCompressed) !== from.compressed) return false;
  const open = bytesOf((name) => !isCompressed(name));
  return open === from.lines && (open === 0 || areEqual(endOfDay(directory, day), from));
}

function areEqual(one: DayPosition, other: DayPosition): boolean {
  return one.compressed === other.compressed && one.lines === other.lines && one.start === other.start;
}

function parseBlock({ bytes }: DayBlock, since: string | null): Omit<LedgerBatch, "cursor"> {
  const batch: Omit<LedgerBatch, "cursor"> = { records: [], unreadable: 0, unknownVersion: 0 };
  if (bytes === null) return { ...batch, unreadable: 1 };
  for (const line of linesOf({ bytes, isWhole: true })) {
    const record = parseRecord(line);
    if (record === "torn") continue;
    if (record === "unreadable") batch.unreadable += 1;
    else if (record === "unknown_version") batch.unknownVersion += 1;
    else if (since === null || record.ts >= since) batch.records.push(record);
  }
  return batch;
}
