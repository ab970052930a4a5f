import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { Failure } from "../../../core/failure.ts";
import { DAY_START, type DayPosition } from "../../../core/ledger/after/cursor.ts";
import { recordFileNames } from "../../../core/ledger/day.ts";
import type { ByteSource } from "../byte-source.ts";
import { GunzipSource } from "../gunzip-source.ts";
import { openDay } from "../open-day.ts";
import { areOfSameTime } from "../open-day-files.ts";
import { PositionedFile } from "../positioned-file.ts";
import { lastLineStart } from "../torn-line.ts";
import { lineBlocks } from "./line-blocks.ts";

const NEWLINE = 0x0a;
/** So much of a line tells it from others: its `id` is in it. */
const START_BYTES = 64;
const SKIP_BYTES = 256 * 1024;

/** Lines of a day that follow a position. */
export interface DayBlock {
  /** Whole lines, valid until the next block is requested; null for something that cannot be read. */
  bytes: Buffer | null;
  /** The position after them. */
  position: DayPosition;
}

/** The open files of a day, which {@link readDayAfter} closes. */
interface DayHandles {
  compressed: { handle: FileHandle; path: string; bytes: number } | null;
  open: FileHandle | null;
}

/**
 * Yields the lines that were added to a day after `from`, and where each block ends. Where other files are in the place of those that
 * were read, it yields these from their start. Throws a Failure when a file cannot be opened.
 */
export async function* readDayAfter(
  directory: string,
  day: string,
  from: DayPosition,
): AsyncGenerator<DayBlock> {
  const { compressed, open } = await openHandles(directory, day);
  try {
    let position = (compressed?.bytes ?? 0) < from.compressed ? DAY_START : from;
    if (compressed !== null && compressed.bytes > position.compressed) {
      for await (const block of readCompressed(compressed, position)) {
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

/** Returns the position after the last whole line that a day has now. Throws likewise. */
export async function endOfDay(directory: string, day: string): Promise<DayPosition> {
  const { compressed, open } = await openHandles(directory, day);
  try {
    const position = { ...DAY_START, compressed: compressed?.bytes ?? 0 };
    if (open === null) return position;
    const lines = lastLineStart(open.fd, (await open.stat()).size);
    return lines === 0 ? position : { ...position, lines, start: await startOf(new PositionedFile(open)) };
  } finally {
    await compressed?.handle.close();
    await open?.close();
  }
}

async function openHandles(directory: string, day: string): Promise<DayHandles> {
  const [compressedName, openName] = recordFileNames(day);
  for (;;) {
    // In this order, because a file is deleted when the compressed one is complete.
    const open = await openDay(join(directory, openName));
    const path = join(directory, compressedName);
    const handle = await openDay(path);
    const compressed = handle === null ? null : { handle, path, bytes: (await handle.stat()).size };
    if (open === null || handle === null) return { compressed, open };
    if (await areOfSameTime(open, handle)) {
      await open.close();
      return { compressed, open: null };
    }
    if ((await open.stat()).nlink > 0) return { compressed, open };
    // It was compressed in between, with a line that was added late.
    await Promise.all([open.close(), handle.close()]);
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
    const source = new GunzipSource(handle, path, from.compressed);
    try {
      readElsewhere = position.lines - (await skip(source, position.lines));
      for await (const block of lineBlocks(source, true)) {
        position = { ...position, lines: position.lines + block.length, start };
        yield { bytes: block.bytes, position };
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
  for await (const block of lineBlocks(new PositionedFile(file, position.lines), false)) {
    position = { ...position, lines: position.lines + block.length, start };
    yield { bytes: block.bytes, position };
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
  const end = buffer.subarray(0, held).indexOf(NEWLINE) + 1;
  return crc32(buffer.subarray(0, end > 0 ? end : held));
}

/** Reads so many bytes, or up to the end. Returns how many it were. */
async function skip(source: ByteSource, bytes: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(bytes, SKIP_BYTES));
  let skipped = 0;
  for (let read = -1; read !== 0 && skipped < bytes; skipped += read)
    read = (await source.read(buffer, 0, Math.min(buffer.length, bytes - skipped))).bytesRead;
  return skipped;
}
