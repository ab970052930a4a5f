import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Place, PlaceKind } from "./locations.ts";

/** A file that is there, and what it says. */
export interface ReadPlace {
  kind: PlaceKind;
  path: string;
  /** As much of it as is looked through. */
  text: string;
  /** Why not all of it was read; null when it was. */
  trouble: string | null;
}

/** Far more than anybody writes by hand; the largest of them is Claude Code's own state. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Files of one directory. */
const MAX_FILES = 100;

/** Reads what is there of the places, in their order. A link is followed, for that is how dotfiles are managed. */
export async function readPlaces(places: readonly Place[]): Promise<ReadPlace[]> {
  const read: ReadPlace[] = [];
  for (const { kind, path, ending } of places) {
    for (const file of ending === undefined ? [path] : await filesIn(path, ending)) {
      const found = await readStart(file);
      if (found !== null) read.push({ kind, path: file, ...found });
    }
  }
  return read;
}

async function filesIn(directory: string, ending: string): Promise<string[]> {
  try {
    const names = (await readdir(directory)).filter((name) => name.endsWith(ending)).toSorted();
    return names.slice(0, MAX_FILES).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** null when there is no such file. Opening a pipe would wait for its writer, and reading a device might never end. */
async function readStart(path: string): Promise<Pick<ReadPlace, "text" | "trouble"> | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { text: "", trouble: "it is not a regular file" };
      const buffer = Buffer.alloc(Math.min(stats.size, MAX_BYTES));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
      const isAll = stats.size <= MAX_BYTES;
      const text = buffer.toString("utf8", 0, bytesRead);
      return { text, trouble: isAll ? null : `only its first ${MAX_BYTES} bytes were looked through` };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return code === "ENOENT" || code === "ENOTDIR" ? null : { text: "", trouble: `cannot be read (${code})` };
  }
}
