import * as fs from "node:fs";
import { openPrivateFile } from "./private-file.ts";

const NEWLINE = 0x0a;
const BLOCK_BYTES = 64 * 1024;

/**
 * Moves a last line without a newline, which a crash or a disk fault left, to the end of the file at `tornPath`, so that
 * the next record starts a new line. Returns how many bytes it moved; 0 when the last line is complete.
 */
export function moveTruncatedLine(fd: number, tornPath: string): number {
  const { size } = fs.fstatSync(fd);
  const start = lastLineStart(fd, size);
  if (start === size) return 0;
  const tail = Buffer.alloc(size - start);
  fs.readSync(fd, tail, 0, tail.length, start);
  keepTornLine(tail, tornPath);
  fs.ftruncateSync(fd, start);
  return tail.length;
}

/** Adds what a crash left of a line to the end of the file at `tornPath`, on a line of its own. */
export function keepTornLine(bytes: Buffer, tornPath: string): void {
  const torn = openPrivateFile(tornPath);
  try {
    fs.writeFileSync(torn, Buffer.concat([bytes, Buffer.of(NEWLINE)]));
  } finally {
    fs.closeSync(torn);
  }
}

/** Returns the offset after the last newline. Searches from the end, because files can be large and lines are not. */
function lastLineStart(fd: number, size: number): number {
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let end = size; end > 0; end -= BLOCK_BYTES) {
    const from = Math.max(0, end - BLOCK_BYTES);
    const read = fs.readSync(fd, block, 0, end - from, from);
    const newline = block.subarray(0, read).lastIndexOf(NEWLINE);
    if (newline !== -1) return from + newline + 1;
  }
  return 0;
}
