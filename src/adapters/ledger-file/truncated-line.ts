import * as fs from "node:fs";
import { openPrivateFile } from "./private-file.ts";

const NEWLINE = 0x0a;
const BLOCK_BYTES = 64 * 1024;

/**
 * Moves a last line without a newline, which a crash or a disk fault left, to the end of the file at `tornPath`, so that
 * the next record starts a new line. Returns how many bytes it moved; 0 when the last line is complete. Changes neither file
 * when it throws.
 */
export function moveTruncatedLine(fd: number, tornPath: string): number {
  const { size } = fs.fstatSync(fd);
  const start = lastLineStart(fd, size);
  if (start === size) return 0;
  const torn = openPrivateFile(tornPath);
  try {
    appendRange(torn, fd, start, size);
  } finally {
    fs.closeSync(torn);
  }
  fs.ftruncateSync(fd, start);
  return size - start;
}

/**
 * Appends this part of a file to another, and a newline. Copies it block by block, because a crash of the machine can leave
 * a tail of any length, filled with zeros. Removes what it has written if the disk does not take all of it.
 */
function appendRange(to: number, from: number, start: number, end: number): void {
  const { size } = fs.fstatSync(to);
  const block = Buffer.alloc(BLOCK_BYTES);
  try {
    for (let at = start, read; at < end; at += read) {
      read = fs.readSync(from, block, 0, Math.min(BLOCK_BYTES, end - at), at);
      if (read === 0) break;
      fs.writeFileSync(to, block.subarray(0, read));
    }
    fs.writeFileSync(to, Buffer.of(NEWLINE));
  } catch (error) {
    fs.ftruncateSync(to, size);
    throw error;
  }
}

/** Adds the bytes of a line that is not whole to the end of the file at `tornPath`, on a line of its own. */
export function keepTornLine(bytes: Buffer, tornPath: string): void {
  const torn = openPrivateFile(tornPath);
  try {
    fs.writeFileSync(torn, Buffer.concat([bytes, Buffer.of(NEWLINE)]));
  } finally {
    fs.closeSync(torn);
  }
}

/** Returns the offset after the last newline. Searches from the end, because files can be large and lines are not. */
export function lastLineStart(fd: number, size: number): number {
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let end = size; end > 0; end -= BLOCK_BYTES) {
    const from = Math.max(0, end - BLOCK_BYTES);
    const read = fs.readSync(fd, block, 0, end - from, from);
    const newline = block.subarray(0, read).lastIndexOf(NEWLINE);
    if (newline !== -1) return from + newline + 1;
  }
  return 0;
}
