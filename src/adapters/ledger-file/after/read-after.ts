import { DAY_START, type DayPosition, type LedgerCursor } from "../../../core/ledger/after/cursor.ts";
import { dayAt, isCompressed } from "../../../core/ledger/day.ts";
import { parseRecord } from "../../../core/ledger/parse-record.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { listDays, type LedgerDay } from "../closed-days/list-days.ts";
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
 * nothing is left. Also finds what was compressed meanwhile, and records that are added late to an earlier day. A last line without an
 * end is left for the next call. Gives other work a turn between two batches. Throws a Failure when a file cannot be opened.
 */
export async function* readLedgerAfter(directory: string, cursor: LedgerCursor): AsyncGenerator<LedgerBatch> {
  const { since } = cursor;
  const found = await daysWithRecords(directory);
  let days = withoutDeleted(cursor.days, found);
  for (const { day, files } of found) {
    const from = days[day] ?? DAY_START;
    if (isAtEnd(files, from)) continue;
    for await (const block of readDayAfter(directory, day, from)) {
      days = { ...days, [day]: block.position };
      yield { ...parseBlock(block, since), cursor: { days, since } };
    }
  }
}

/** Returns a cursor after everything that a ledger has now. A last line without an end comes after it. Throws like {@link readLedgerAfter}. */
export async function cursorAtEnd(directory: string): Promise<LedgerCursor> {
  return { days: await endsOf(directory, await daysWithRecords(directory)), since: null };
}

/** Returns a cursor before the first record whose request arrived at `moment`, in milliseconds since 1970, or later. Throws likewise. */
export async function cursorAt(directory: string, moment: number): Promise<LedgerCursor> {
  const before = (await daysWithRecords(directory)).filter(({ day }) => day < dayAt(moment));
  return { days: await endsOf(directory, before), since: new Date(moment).toISOString() };
}

async function daysWithRecords(directory: string): Promise<LedgerDay[]> {
  return (await listDays(directory, { from: "" })).filter(({ files }) => files.length > 0);
}

async function endsOf(directory: string, days: readonly LedgerDay[]): Promise<Record<string, DayPosition>> {
  const ends: Record<string, DayPosition> = {};
  for (const { day } of days) ends[day] = await endOfDay(directory, day);
  return ends;
}

/** Forgets the days that are deleted: those before the oldest that is there. A directory that is not mounted has deleted nothing. */
function withoutDeleted(days: LedgerCursor["days"], [oldest]: readonly LedgerDay[]): LedgerCursor["days"] {
  if (oldest === undefined) return days;
  return Object.fromEntries(Object.entries(days).filter(([day]) => day >= oldest.day));
}

function isAtEnd(files: LedgerDay["files"], { compressed, lines }: DayPosition): boolean {
  const bytesOf = (isOf: (name: string) => boolean) => files.find(({ name }) => isOf(name))?.bytes ?? 0;
  return bytesOf(isCompressed) === compressed && bytesOf((name) => !isCompressed(name)) === lines;
}

function parseBlock({ bytes }: DayBlock, since: string | null): Omit<LedgerBatch, "cursor"> {
  const batch: Omit<LedgerBatch, "cursor"> = { records: [], unreadable: 0, unknownVersion: 0 };
  if (bytes === null) return { ...batch, unreadable: 1 };
  for (const line of linesOf(bytes)) {
    const record = parseRecord(line);
    if (record === "torn") continue;
    if (record === "unreadable") batch.unreadable += 1;
    else if (record === "unknown_version") batch.unknownVersion += 1;
    else if (since === null || record.ts >= since) batch.records.push(record);
  }
  return batch;
}
