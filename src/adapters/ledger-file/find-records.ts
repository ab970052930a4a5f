import * as fs from "node:fs";
import { hasCode } from "../../core/failure.ts";

const NEWLINE = 0x0a;
const BLOCK_BYTES = 256 * 1024;
/** How every line of the ledger begins. */
const LINE_START = /^\{"v":\d+,"id":"([^"]+)"/;
/** The id is within this many bytes. */
const START_BYTES = 128;

/**
 * Returns which of these ids are those of records in a day's file; none when there is no such file. Reads all of it, 1 GB/s,
 * but only the start of each line, in bounded memory.
 */
export function findRecords(path: string, ids: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  for (const start of lineStarts(path)) {
    const id = LINE_START.exec(start)?.[1];
    if (id !== undefined && ids.has(id)) found.add(id);
  }
  return found;
}

/** Yields the first {@link START_BYTES} of each line, more or less. */
function* lineStarts(path: string): Generator<string> {
  const fd = openIfThere(path);
  if (fd === null) return;
  try {
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    let held = 0;
    let isInLine = false;
    for (;;) {
      const read = fs.readSync(fd, block, held, block.length - held, null);
      held += read;
      let at = 0;
      while (at < held) {
        if (!isInLine) {
          if (held - at < START_BYTES && read > 0) break;
          yield block.toString("latin1", at, Math.min(held, at + START_BYTES));
        }
        const end = block.subarray(0, held).indexOf(NEWLINE, at);
        isInLine = end === -1;
        at = isInLine ? held : end + 1;
      }
      if (read === 0) return;
      block.copyWithin(0, at, held);
      held -= at;
    }
  } finally {
    fs.closeSync(fd);
  }
}

/** Returns a descriptor; null when there is no such file. Neither follows a symbolic link nor blocks on a pipe. Throws an errno error. */
export function openIfThere(path: string): number | null {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
  try {
    return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
