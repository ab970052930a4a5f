import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { recordFileNames } from "../../core/ledger/day.ts";
import type { ByteSource } from "./byte-source.ts";
import { GunzipSource } from "./gunzip-source.ts";
import { openDay } from "./open-day.ts";

/** An open file with records of a day. */
export interface OpenDayFile {
  name: string;
  handle: FileHandle;
  /** What it contains; that of an uncompressed file is the handle itself. */
  source: ByteSource;
}

/**
 * Opens the files that have a day's records, the older ones first; none if they were deleted since they were listed. Throws like
 * `readLedger`.
 */
export async function openDayFiles(directory: string, day: string): Promise<OpenDayFile[]> {
  const [compressedName, openName] = recordFileNames(day);
  // In this order, because a file is deleted when the compressed one is complete.
  const open = await openDay(join(directory, openName));
  const compressed = await openDay(join(directory, compressedName));
  const files: OpenDayFile[] = [];
  if (compressed !== null) {
    const source = new GunzipSource(compressed, join(directory, compressedName));
    files.push({ name: compressedName, handle: compressed, source });
  }
  if (open === null) return files;
  if (compressed !== null && (await areOfSameTime(open, compressed))) await open.close();
  else files.push({ name: openName, handle: open, source: open });
  return files;
}

/** A compressed file has the time of the one that it was made from, in whole milliseconds. A crash may have left that one. */
export async function areOfSameTime(one: FileHandle, other: FileHandle): Promise<boolean> {
  const times = [await one.stat(), await other.stat()].map(({ mtimeMs }) => Math.round(mtimeMs));
  return times[0] === times[1];
}
