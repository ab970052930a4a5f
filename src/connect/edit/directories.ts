import fs from "node:fs";
import { dirname } from "node:path";
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

/** Returns the nearest parent of a path that exists. */
export function findExistingParent(path: string): string {
  const parent = dirname(path);
  return parent === dirname(parent) || fs.existsSync(parent) ? parent : findExistingParent(parent);
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

/** Removes the directories that are empty or become empty on the way. One that cannot be removed does no harm, and stays. */
export function removeEmptyDirectories(directories: readonly string[]): void {
  const fromInnermost = [...new Set(directories)].sort((one, other) => other.length - one.length);
  for (const directory of fromInnermost) {
    try {
      fs.rmdirSync(directory);
    } catch {
      // Not empty, no longer there, a mount point, or in a directory that this user cannot write to.
    }
  }
}
