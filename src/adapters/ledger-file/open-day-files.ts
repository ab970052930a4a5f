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

/** The open files of a day. */
export interface DayHandles {
  compressed: { handle: FileHandle; path: string; bytes: number } | null;
  open: FileHandle | null;
}

/**
 * Opens the files that have a day's records, the older ones first; none if they were deleted since they were listed. Throws like
 * `readLedger`.
 */
export async function openDayFiles(directory: string, day: string): Promise<OpenDayFile[]> {
  const [compressedName, openName] = recordFileNames(day);
  const { compressed, open } = await openDayHandles(directory, day);
  const files: OpenDayFile[] = [];
  if (compressed !== null) {
    const { handle, path } = compressed;
    files.push({ name: compressedName, handle, source: new GunzipSource(handle, path) });
  }
  if (open !== null) files.push({ name: openName, handle: open, source: open });
  return files;
}

/** Opens the files of one moment: no line is in both, and none in neither. Throws likewise. */
export async function openDayHandles(directory: string, day: string): Promise<DayHandles> {
  const [path, openPath] = recordFileNames(day).map((name) => join(directory, name)) as [string, string];
  for (;;) {
    // In this order, because a file is deleted when the compressed one is complete.
    const open = await openDay(openPath);
    const handle = await openDay(path);
    if (handle === null) return { compressed: null, open };
    const { size: bytes, mtimeMs } = await handle.stat();
    const compressed = { handle, path, bytes };
    if (open === null) return { compressed, open };
    const found = await open.stat();
    // A compressed file has the time of the one that it was made from, in whole milliseconds. A crash may have left that one.
    const isCopied = Math.round(found.mtimeMs) === Math.round(mtimeMs);
    if (!isCopied && found.nlink > 0) return { compressed, open };
    await open.close();
    if (isCopied) return { compressed, open: null };
    // It was compressed in between, with a line that was added late.
    await handle.close();
  }
}
