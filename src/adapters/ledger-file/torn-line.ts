import * as fs from "node:fs";
import { openPrivateFile } from "./private-file.ts";

const NEWLINE = 0x0a;
/** Mostly the last byte is a newline. A reader of a year has hundreds of files, so it reads little of each. */
const FIRST_BYTES = 64;
const BLOCK_BYTES = 64 * 1024;

/**
 * Ends a last line without a newline, which a crash or a full disk left, so that the next record starts a new line. Returns how many
 * bytes that line has; 0 if the last line is whole, or another daemon has ended it. Removes nothing: another daemon may be writing that
 * line right now. Its write is whole before this one begins (docs/platform.md section 7), so at worst this adds an empty line. The file
 * must be open for appending.
 */
export function endTornLine(fd: number): number {
  const { size } = fs.fstatSync(fd);
  const start = lastLineStart(fd, size);
  if (start === size) return 0;
  fs.writeSync(fd, "\n");
  const next = Buffer.alloc(1);
  fs.readSync(fd, next, 0, 1, size);
  return next[0] === NEWLINE ? size - start : 0;
}

/** Adds the bytes of a note that is not whole to the end of the file at `tornPath`, on a line of its own. */
export function keepTornNote(bytes: Buffer, tornPath: string): void {
  const torn = openPrivateFile(tornPath);
  try {
    fs.writeFileSync(torn, Buffer.concat([bytes, Buffer.of(NEWLINE)]));
  } finally {
    fs.closeSync(torn);
  }
}

/** Returns the offset after the last newline. Searches from the end, because files can be large and lines are not. */
export function lastLineStart(fd: number, size: number): number {
  let block = Buffer.alloc(FIRST_BYTES);
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - block.length);
    const read = fs.readSync(fd, block, 0, end - from, from);
    const newline = block.subarray(0, read).lastIndexOf(NEWLINE);
    if (newline !== -1) return from + newline + 1;
    end = from;
    if (block.length < BLOCK_BYTES) block = Buffer.alloc(BLOCK_BYTES);
  }
  return 0;
}
