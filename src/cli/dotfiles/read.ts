import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DotfileLocation, DotfileKind } from "./locations.ts";
import { reasonOf } from "../../core/system-error.ts";
import { hasCode } from "../../core/failure.ts";

/** A file that exists, with its text. */
export interface Dotfile {
  kind: DotfileKind;
  path: string;
  /** The part of the file that is searched. */
  text: string;
  /** Why the text is empty or incomplete; null when it is complete. */
  problem: string | null;
}

/** Bytes of one file that are read. The largest of these files is Claude Code's own state. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Files of one directory that are read. */
const MAX_FILES = 100;

/** Reads the files that exist, in the order of their locations. Follows links, by which dotfiles are often managed. */
export async function readDotfiles(locations: readonly DotfileLocation[]): Promise<Dotfile[]> {
  const read: Dotfile[] = [];
  for (const { kind, path, extension } of locations) {
    for (const file of extension === undefined ? [path] : await listFiles(path, extension)) {
      const found = await readStart(file);
      if (found !== null) read.push({ kind, path: file, ...found });
    }
  }
  return read;
}

async function listFiles(directory: string, extension: string): Promise<string[]> {
  try {
    const names = (await readdir(directory)).filter((name) => name.endsWith(extension)).toSorted();
    return names.slice(0, MAX_FILES).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** Returns null when there is no such file. Does not wait for the writer of a pipe, nor read from a device. */
async function readStart(path: string): Promise<Pick<Dotfile, "text" | "problem"> | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { text: "", problem: "it is not a regular file" };
      const buffer = Buffer.alloc(Math.min(stats.size, MAX_BYTES));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
      const isAll = stats.size <= MAX_BYTES;
      const text = buffer.toString("utf8", 0, bytesRead);
      return { text, problem: isAll ? null : `only its first ${MAX_BYTES} bytes were searched` };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return null;
    return { text: "", problem: `cannot be read: ${reasonOf(error)}` };
  }
}
