import { hasRecords, parseLedgerFileName } from "../../core/ledger/day.ts";
import { parseRecord, type NoRecord } from "../../core/ledger/parse-record.ts";
import { readQuickly } from "../../core/ledger/quick-record.ts";
import type { SummableRecord, UsageRecord } from "../../core/ledger/record.ts";
import { lineBlocks, linesFromEnd, linesOf, type LineBlock } from "./after/line-blocks.ts";
import { namesIn } from "./open-day.ts";
import { openDayFiles } from "./open-day-files.ts";

const NEWLINE = 0x0a;
/**
 * How much is read at once, and the longest line that is read: several times as long as a record. The fastest of the sizes
 * measured; reading takes a few times this much memory (docs/platform.md section 7).
 */
export const BLOCK_BYTES = 4 * 1024 * 1024;

/** A range of UTC days, `YYYY-MM-DD`, both inclusive. Without `to` it extends to the newest day. */
export interface DayRange {
  from: string;
  to?: string;
}

/** A line that this release cannot read as a record: far too long, not written by tollkeeper, or by a later release. Lines count from 1. */
export interface UnreadableLine {
  unreadable: true;
  file: string;
  line: number;
}

/**
 * Yields every record of the days in range, day by day, in the order in which they were written. A missing directory has no
 * records. Throws a Failure when a file cannot be opened, so that no sum silently leaves out a day.
 */
export async function* readLedger(
  directory: string,
  range: DayRange,
): AsyncGenerator<UsageRecord | UnreadableLine> {
  for (const day of findDays(directory, range)) {
    for await (const block of readBlocks(directory, day)) {
      const entries: (UsageRecord | UnreadableLine)[] = [];
      parseLines(block, parseRecord, (entry) => void entries.push(entry));
      yield* entries;
    }
  }
}

/** Returns the UTC days in range that have records, in their order. Throws like {@link readLedger}. */
export function findDays(directory: string, range: DayRange): string[] {
  const files = namesIn(directory)
    .map(parseLedgerFileName)
    .filter((file) => file !== null);
  const days = files.filter(hasRecords).map(({ day }) => day);
  return [...new Set(days)].filter((day) => isInRange(day, range)).sort();
}

export function isInRange(day: string, { from, to }: DayRange): boolean {
  return day >= from && (to === undefined || day <= to);
}

/**
 * Calls `visit` with the records of one day for sums, which lack what no sum needs (`readQuickly`), and lines that are not records, in the
 * order in which they were written. None of them is kept, so that memory stays small. Throws like {@link readLedger}.
 */
export async function visitDay(
  directory: string,
  day: string,
  visit: (entry: SummableRecord | UnreadableLine) => void,
): Promise<void> {
  for await (const block of readBlocks(directory, day))
    parseLines(block, (line) => readQuickly(line) ?? parseRecord(line), visit);
}

/**
 * Returns the last records of one day that are wanted, at most so many, in the order in which they were written. Only these are parsed,
 * and what is not wanted between them. Throws like {@link readLedger}.
 */
export async function readLastOfDay(
  directory: string,
  day: string,
  count: number,
  isWanted: (record: UsageRecord) => boolean,
): Promise<UsageRecord[]> {
  let last: UsageRecord[] = [];
  for await (const block of readBlocks(directory, day)) {
    const more: UsageRecord[] = [];
    for (const line of block.isWhole ? linesFromEnd(block) : []) {
      if (more.length >= count) break;
      const record = parseRecord(line);
      if (typeof record !== "string" && isWanted(record)) more.push(record);
    }
    last = [...last, ...more.toReversed()].slice(-count);
  }
  return last;
}

/** Lines of a file. */
interface Block extends LineBlock {
  file: string;
  /** How many lines are before it. */
  before: number;
}

/** Yields the lines of a day in blocks, in the order in which they were written. */
export async function* readBlocks(directory: string, day: string): AsyncGenerator<Block> {
  for (const { name, handle, source } of await openDayFiles(directory, day)) {
    try {
      let before = 0;
      for await (const block of lineBlocks(source, BLOCK_BYTES)) {
        yield { file: name, before, ...block };
        before += countLines(block);
      }
    } finally {
      await handle.close();
    }
  }
}

/** Parses the lines of a block, and passes over torn ones. A last line without an end is no record yet. */
function parseLines<Found extends object>(
  { file, before, ...block }: Block,
  parse: (line: string) => Found | NoRecord,
  visit: (entry: Found | UnreadableLine) => void,
): void {
  let line = before;
  if (block.bytes === null) return visit({ unreadable: true, file, line: line + 1 });
  for (const text of linesOf(block)) {
    line += 1;
    const record = parse(text);
    if (record === "torn" || (!block.isWhole && record !== "unreadable")) continue;
    visit(typeof record === "string" ? { unreadable: true, file, line } : record);
  }
}

function countLines({ bytes }: LineBlock): number {
  if (bytes === null) return 1;
  let count = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, end + 1)) count += 1;
  return count;
}
