import * as fs from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { compressedFileName, dayFileName } from "../../../core/ledger/day.ts";
import { putInPlace } from "../../../replace-file.ts";
import { openDay } from "../open-day.ts";
import { openPrivateFile } from "../private-file.ts";

const NEWLINE = 0x0a;

/**
 * Replaces the file of a closed day by a compressed one, or adds it to that. Leaves a file with a torn last line as it is. What a daemon
 * appends meanwhile is in a new file of the day afterwards. Throws when the disk does not accept it; then nothing has changed.
 */
export async function compressDay(directory: string, day: string): Promise<void> {
  const path = join(directory, dayFileName(day));
  const target = join(directory, compressedFileName(day));
  const file = await openDay(path);
  if (file === null) return;
  try {
    const { size, atime, mtime } = await file.stat();
    if (!(await endsWithNewline(file, size))) return;
    // The same time: a crash has left what is compressed already.
    if (fs.statSync(target, { throwIfNoEntry: false })?.mtime.getTime() !== mtime.getTime())
      await addCompressed(file, size, target, { atime, mtime });
    fs.unlinkSync(path);
    await keepAppended(file, size, path);
  } finally {
    await file.close();
  }
}

async function endsWithNewline(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === NEWLINE;
}

/** Adds so many bytes of a file to a compressed one: a gzip file may consist of several (RFC 1952 section 2.2). */
async function addCompressed(
  file: FileHandle,
  size: number,
  target: string,
  { atime, mtime }: { atime: Date; mtime: Date },
): Promise<void> {
  const unfinished = `${target}.${process.pid}.new`;
  try {
    const before = fs.existsSync(target) ? fs.readFileSync(target) : Buffer.alloc(0);
    fs.writeFileSync(unfinished, before, { mode: 0o600, flag: "wx" });
    const lines = file.createReadStream({ autoClose: false, start: 0, end: size - 1 });
    await pipeline(lines, createGzip(), fs.createWriteStream(unfinished, { flags: "a", flush: true }));
    fs.utimesSync(unfinished, atime, mtime);
    putInPlace(unfinished, target);
  } catch (error) {
    fs.rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Keeps what was appended to a file since it had so many bytes, and is deleted with it otherwise. */
async function keepAppended(file: FileHandle, size: number, path: string): Promise<void> {
  const { size: now } = await file.stat();
  if (now <= size) return;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(now - size), 0, now - size, size);
  const fd = openPrivateFile(path);
  try {
    fs.writeFileSync(fd, buffer.subarray(0, bytesRead));
  } finally {
    fs.closeSync(fd);
  }
}
