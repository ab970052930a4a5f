import { isAscii } from "node:buffer";
import { readdir } from "node:fs/promises";
import { hasRecords, parseLedgerFileName } from "../../core/ledger/day.ts";
import { parseRecord, type NoRecord } from "../../core/ledger/parse-record.ts";
import { readQuickly } from "../../core/ledger/quick-record.ts";
import type { SummableRecord, UsageRecord } from "../../core/ledger/record.ts";
import type { ByteSource } from "./byte-source.ts";
import { nullIfMissing } from "./open-day.ts";
import { openDayFiles } from "./open-day-files.ts";

const NEWLINE = 0x0a;
/**
 * How much is read at once, and the longest line that is read: several times as long as a record. The fastest of the sizes
 * measured; reading takes a few times this much memory (docs/platform.md section 7).
 */
const BLOCK_BYTES = 4 * 1024 * 1024;

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
  for (const day of await findDays(directory, range)) {
    for await (const block of readBlocks(directory, day)) {
      const entries: (UsageRecord | UnreadableLine)[] = [];
      parseLines(block, parseRecord, (entry) => void entries.push(entry));
      yield* entries;
    }
  }
}

/** Returns the UTC days in range that have records, in their order. Throws like {@link readLedger}. */
export async function findDays(directory: string, range: DayRange): Promise<string[]> {
  const files = (await namesIn(directory)).map(parseLedgerFileName).filter((file) => file !== null);
  const days = files.filter(hasRecords).map(({ day }) => day);
  return [...new Set(days)].filter((day) => isInRange(day, range)).sort();
}

/** Returns the names in a directory; none when it is missing. Throws like {@link readLedger}. */
export async function namesIn(directory: string): Promise<string[]> {
  return (await nullIfMissing(readdir(directory), directory)) ?? [];
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

/** Whole lines of a file. */
interface Block {
  file: string;
  /** How many lines are before it. */
  before: number;
  /** null for a line that is longer than a block; valid until the next block is requested. */
  bytes: Buffer | null;
}

async function* readBlocks(directory: string, day: string): AsyncGenerator<Block> {
  for (const { name, handle, source } of await openDayFiles(directory, day)) {
    try {
      let before = 0;
      for await (const bytes of blocksOf(source)) {
        yield { file: name, before, bytes };
        before += bytes === null ? 1 : countLines(bytes);
      }
    } finally {
      await handle.close();
    }
  }
}

/**
 * Yields the file in blocks of whole lines; a last line without a newline is in a block of its own. Yields null for a line
 * that is longer than a block. Blocks share one buffer, so a block is valid until the next one is requested.
 */
export async function* blocksOf(file: ByteSource): AsyncGenerator<Buffer | null> {
  const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  let held = 0;
  for (;;) {
    if (held === buffer.length) {
      yield null;
      held = await skipLine(file, buffer);
    }
    const { bytesRead } = await file.read(buffer, held, buffer.length - held);
    held += bytesRead;
    const filled = buffer.subarray(0, held);
    if (bytesRead === 0) {
      if (held > 0) yield filled;
      return;
    }
    const end = filled.lastIndexOf(NEWLINE) + 1;
    if (end > 0) yield filled.subarray(0, end);
    buffer.copyWithin(0, end, held);
    held -= end;
  }
}

/** Reads up to the next newline. Moves what follows it to the buffer's start, and returns how much that is. */
async function skipLine(file: ByteSource, buffer: Buffer): Promise<number> {
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length);
    const end = buffer.subarray(0, bytesRead).indexOf(NEWLINE) + 1;
    if (bytesRead > 0 && end === 0) continue;
    buffer.copyWithin(0, end, bytesRead);
    return bytesRead - end;
  }
}

/** Parses the lines of a block, and passes over torn ones. A last line without a newline is no record yet. */
function parseLines<Found extends object>(
  { file, before, bytes }: Block,
  parse: (line: string) => Found | NoRecord,
  visit: (entry: Found | UnreadableLine) => void,
): void {
  let line = before;
  if (bytes === null) return visit({ unreadable: true, file, line: line + 1 });
  // Takes 0.3 µs for a line instead of 1.5.
  const encoding = isAscii(bytes) ? "latin1" : "utf8";
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    line += 1;
    const record = parse(bytes.toString(encoding, start, end));
    if (typeof record !== "string") visit(record);
    else if (record !== "torn") visit({ unreadable: true, file, line });
    start = end + 1;
  }
  if (start < bytes.length && parse(bytes.toString(encoding, start)) === "unreadable")
    visit({ unreadable: true, file, line: line + 1 });
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, end + 1)) count += 1;
  return count;
}
