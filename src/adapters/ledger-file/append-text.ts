import * as fs from "node:fs";

/**
 * Appends whole lines with one `write`. When only part of them is written, that part is removed again and the call throws.
 * There is no fsync: a crash of the daemon loses nothing without it, and protection from a crash of the machine is not worth
 * 180 µs per request (docs/platform.md section 7).
 */
export function appendText(fd: number, lines: string): void {
  const bytes = Buffer.byteLength(lines);
  const written = fs.writeSync(fd, lines);
  if (written === bytes) return;
  fs.ftruncateSync(fd, fs.fstatSync(fd).size - written);
  throw new Error(`only ${written} of ${bytes} bytes could be written`);
}
