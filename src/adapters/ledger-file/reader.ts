import { constants } from "node:fs";
import { open, readdir, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../core/failure.ts";
import { dayFileName, parseLedgerFileName } from "../../core/ledger/day.ts";
import { parseRecord } from "../../core/ledger/parse-record.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";

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

/** A line that is not a record: truncated, far too long, or not written by tollkeeper. Lines count from 1. */
export interface UnreadableLine {
  unreadable: true;
  file: string;
  line: number;
}

/**
 * Yields every record of the days in range, day by day, in the order in which they were written. Skips records of a later
 * format. A missing directory has no records. Throws a Failure when a file cannot be opened, so that no sum silently leaves
 * out a day.
 */
export async function* readLedger(
  directory: string,
  range: DayRange,
): AsyncGenerator<UsageRecord | UnreadableLine> {
  for (const day of await daysIn(directory, range)) {
    const name = dayFileName(day);
    const file = await openDay(join(directory, name));
    if (file === null) continue;
    try {
      let line = 0;
      for await (const block of blocksOf(file)) {
        for (const text of block === null ? [null] : linesOf(block)) {
          line += 1;
          const record = text === null ? "unreadable" : parseRecord(text);
          if (record === "unreadable") yield { unreadable: true, file: name, line };
          else if (record !== "unknown_version") yield record;
        }
      }
    } finally {
      await file.close();
    }
  }
}

async function daysIn(directory: string, range: DayRange): Promise<string[]> {
  const names = await nullIfMissing(readdir(directory), directory);
  return (names ?? [])
    .map(parseLedgerFileName)
    .filter((file) => file !== null)
    .filter(({ day, isTorn }) => !isTorn && day >= range.from && (range.to === undefined || day <= range.to))
    .map(({ day }) => day)
    .sort();
}

/** Returns null when the file was deleted since it was listed. Neither follows a symbolic link nor blocks on a pipe. */
async function openDay(path: string): Promise<FileHandle | null> {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  const file = await nullIfMissing(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), path);
  if (file === null || (await file.stat()).isFile()) return file;
  await file.close();
  throw new Failure(
    `tollkeeper does not read ${path}: it is not a regular file`,
    `mv ${quoteForShell(path)} ${quoteForShell(`${path}.away`)}`,
  );
}

async function nullIfMissing<T>(opening: Promise<T>, path: string): Promise<T | null> {
  try {
    return await opening;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "ELOOP")
      throw new Failure(
        `tollkeeper does not read ${path}: it is a symbolic link`,
        `rm ${quoteForShell(path)}`,
        { cause },
      );
    throw new Failure(`cannot read the ledger: ${message}`, `ls -l ${quoteForShell(path)}`, { cause });
  }
}

/**
 * Yields the file in blocks of whole lines; a last line without a newline is in a block of its own. Yields null for a line
 * that is longer than a block. Blocks share one buffer, so a block is valid until the next one is requested.
 */
async function* blocksOf(file: FileHandle): AsyncGenerator<Buffer | null> {
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
async function skipLine(file: FileHandle, buffer: Buffer): Promise<number> {
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length);
    const end = buffer.subarray(0, bytesRead).indexOf(NEWLINE) + 1;
    if (bytesRead > 0 && end === 0) continue;
    buffer.copyWithin(0, end, bytesRead);
    return bytesRead - end;
  }
}

/** Yields the block's lines; null for a last line without a newline, which the writer would move away as truncated. */
function* linesOf(block: Buffer): Generator<string | null> {
  let start = 0;
  for (let end = block.indexOf(NEWLINE); end !== -1; end = block.indexOf(NEWLINE, start)) {
    yield block.toString("utf8", start, end);
    start = end + 1;
  }
  if (start < block.length) yield null;
}
