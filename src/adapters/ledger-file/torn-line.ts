import * as fs from "node:fs";
import { openOwnFile } from "./own-file.ts";

const NEWLINE = 0x0a;
const BLOCK_BYTES = 64 * 1024;

/**
 * A last line without its newline is what a crash or a dying disk left of a record: appends it to the file at
 * `tornPath` and cuts it off, so that the next record starts a line of its own. Returns the bytes set aside, 0 for none.
 */
export function setTornLineAside(fd: number, tornPath: string): number {
  const { size } = fs.fstatSync(fd);
  const start = lastLineStart(fd, size);
  if (start === size) return 0;
  const tail = Buffer.alloc(size - start);
  fs.readSync(fd, tail, 0, tail.length, start);
  const torn = openOwnFile(tornPath);
  try {
    fs.writeFileSync(torn, Buffer.concat([tail, Buffer.of(NEWLINE)]));
  } finally {
    fs.closeSync(torn);
  }
  fs.ftruncateSync(fd, start);
  return tail.length;
}

/** Where the bytes after the last newline begin, searched from the end: day files can be large, lines are not. */
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
