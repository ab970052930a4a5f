import * as fs from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { Failure } from "../../../core/failure.ts";
import { DAY_START, type DayPosition } from "../../../core/ledger/after/cursor.ts";
import { dayFileName, isCompressed } from "../../../core/ledger/day.ts";
import type { ByteSource } from "../byte-source.ts";
import { GunzipSource } from "../gunzip-source.ts";
import { filesOf } from "../closed-days/list-days.ts";
import { openIfThere } from "../find-records.ts";
import { openDayHandles, type DayHandles } from "../open-day-files.ts";
import { PositionedFile } from "../positioned-file.ts";
import { lastLineStart } from "../torn-line.ts";
import { lineBlocks } from "./line-blocks.ts";

const NEWLINE = 0x0a;
/** So much of a line tells it from others: its `id` is in it. */
const START_BYTES = 64;
/** How much is read at once, and the longest line that is read: several times as long as a record may be (`truncateRecord`). */
const BLOCK_BYTES = 512 * 1024;
const SKIP_BYTES = 256 * 1024;

/** Lines of a day that follow a position. */
export interface DayBlock {
  /** Whole lines, valid until the next block is requested; null for something that cannot be read. */
  bytes: Buffer | null;
  /** The position after them. */
  position: DayPosition;
}

/**
 * Yields the lines that were added to a day after `from`, and where each block ends. Where other files are in the place of those that
 * were read, it yields these from their start. With `until`, a position at which the day once ended, it yields no line after that, though
 * the day may have been compressed since. Throws a Failure when a file cannot be opened.
 */
export async function* readDayAfter(
  directory: string,
  day: string,
  from: DayPosition,
  until: DayPosition | null = null,
): AsyncGenerator<DayBlock> {
  for await (const block of blocksAfter(directory, day, from, until)) {
    const { compressed, lines } = block.position;
    const surplus = until === null ? 0 : compressed > until.compressed ? Infinity : lines - until.lines;
    if (until === null || compressed < until.compressed || surplus <= 0) yield block;
    else {
      const { bytes } = block;
      const left = (bytes?.length ?? 0) - surplus;
      if (bytes !== null && left > 0) yield { bytes: bytes.subarray(0, left), position: until };
      return;
    }
  }
}

async function* blocksAfter(
  directory: string,
  day: string,
  from: DayPosition,
  until: DayPosition | null,
): AsyncGenerator<DayBlock> {
  const { compressed, open } = await openDayHandles(directory, day);
  const bytes = compressed?.bytes ?? 0;
  try {
    let position = bytes < from.compressed ? DAY_START : from;
    // What was compressed after `until` counts as lines after it.
    for (const end of [Math.min(bytes, until?.compressed ?? 0), bytes]) {
      if (compressed === null || end <= position.compressed) continue;
      for await (const block of readCompressed({ ...compressed, bytes: end }, position)) {
        position = block.position;
        yield block;
      }
    }
    if (open !== null) yield* readOpen(open, position);
  } finally {
    await compressed?.handle.close();
    await open?.close();
  }
}

/**
 * Returns the position after the last whole line that a day has now: synchronously, so that this process appends nothing meanwhile. Throws an
 * errno error when the open file cannot be read.
 */
export function endOfDay(directory: string, day: string): DayPosition {
  for (;;) {
    // In this order, because a file is deleted when the compressed one is complete.
    const open = openIfThere(join(directory, dayFileName(day)));
    try {
      const files = filesOf(directory, day);
      const compressed = files.find(({ name }) => isCompressed(name));
      const position = { ...DAY_START, compressed: compressed?.bytes ?? 0 };
      if (open === null || files.every(({ mtime }) => mtime === compressed?.mtime)) return position;
      const { nlink, size } = fs.fstatSync(open);
      // It was compressed in between, with a line that was added late.
      if (nlink === 0 && compressed !== undefined) continue;
      const lines = lastLineStart(open, size);
      const first = Buffer.alloc(START_BYTES);
      const start = startIn(first.subarray(0, fs.readSync(open, first, 0, START_BYTES, 0)));
      return lines === 0 ? position : { ...position, lines, start };
    } finally {
      if (open !== null) fs.closeSync(open);
    }
  }
}

/** Yields the lines of the members after `from.compressed`, and at last the position at the end of the file. */
async function* readCompressed(
  { handle, path, bytes }: NonNullable<DayHandles["compressed"]>,
  from: DayPosition,
): AsyncGenerator<DayBlock> {
  let position = from;
  let readElsewhere = 0;
  try {
    const start = await startOfMember(handle, path, from.compressed);
    if (isOther(start, from)) position = { ...from, lines: 0, start: 0 };
    const source = new GunzipSource(handle, path, from.compressed, bytes);
    try {
      readElsewhere = position.lines - (await skip(source, position.lines));
      for await (const { bytes: found, length, isWhole } of lineBlocks(source, BLOCK_BYTES)) {
        position = { ...position, lines: position.lines + length, start };
        // Nothing will follow that ends a last line.
        yield { bytes: isWhole ? found : null, position };
      }
    } finally {
      await source.close();
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // What a damaged file has from here on is lost to every reader. It must not hold up what comes later.
    yield { bytes: null, position };
  }
  yield { bytes: Buffer.alloc(0), position: { compressed: bytes, lines: readElsewhere, start: 0 } };
}

async function startOfMember(handle: FileHandle, path: string, member: number): Promise<number> {
  const source = new GunzipSource(handle, path, member);
  try {
    return await startOf(source);
  } finally {
    await source.close();
  }
}

/** Yields the whole lines of the open file, of which `from.lines` bytes have been read. */
async function* readOpen(file: FileHandle, from: DayPosition): AsyncGenerator<DayBlock> {
  const start = await startOf(new PositionedFile(file));
  let position = isOther(start, from) ? { ...from, lines: 0, start: 0 } : from;
  for await (const { bytes, length, isWhole } of lineBlocks(
    new PositionedFile(file, position.lines),
    BLOCK_BYTES,
  )) {
    if (!isWhole) return;
    position = { ...position, lines: position.lines + length, start };
    yield { bytes, position };
  }
}

/** True when the lines that were read before are not those that begin like this. */
function isOther(start: number, { lines, start: known }: DayPosition): boolean {
  return lines > 0 && known !== 0 && start !== known;
}

/** Returns the CRC-32 of the start of the first line. */
async function startOf(source: ByteSource): Promise<number> {
  const buffer = Buffer.alloc(START_BYTES);
  let held = 0;
  for (let read = -1; read !== 0 && held < START_BYTES; held += read)
    read = (await source.read(buffer, held, START_BYTES - held)).bytesRead;
  return startIn(buffer.subarray(0, held));
}

function startIn(bytes: Buffer): number {
  const end = bytes.indexOf(NEWLINE) + 1;
  return crc32(end > 0 ? bytes.subarray(0, end) : bytes);
}

/** Reads so many bytes, or up to the end. Returns how many it were. */
async function skip(source: ByteSource, bytes: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(bytes, SKIP_BYTES));
  let skipped = 0;
  for (let read = -1; read !== 0 && skipped < bytes; skipped += read)
    read = (await source.read(buffer, 0, Math.min(buffer.length, bytes - skipped))).bytesRead;
  return skipped;
}
