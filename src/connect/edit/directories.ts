import fs from "node:fs";
import { hasCode } from "../../core/failure.ts";

const NEW_DIRECTORY = 0o700;

/** Returns the names in a directory; none when it does not exist. */
export function listDirectory(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

/** Creates a directory that only its owner can access. Returns false when it already exists. */
export function makeDirectory(directory: string): boolean {
  try {
    fs.mkdirSync(directory, { mode: NEW_DIRECTORY });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST") && fs.statSync(directory).isDirectory()) return false;
    throw error;
  }
}

/** Removes the directories that are empty or become empty on the way. */
export function removeEmptyDirectories(directories: readonly string[]): void {
  const fromInnermost = [...new Set(directories)].sort((one, other) => other.length - one.length);
  for (const directory of fromInnermost) {
    try {
      fs.rmdirSync(directory);
    } catch (error) {
      if (!IGNORED.some((code) => hasCode(error, code))) throw error;
    }
  }
}

/** For a directory that is not empty (either code) or does not exist. */
const IGNORED = ["ENOTEMPTY", "EEXIST", "ENOENT"];
