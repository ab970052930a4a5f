import fs from "node:fs";
import { hasCode } from "../../core/thrown.ts";

const NEW_DIRECTORY = 0o700;

/** What is in a directory; nothing where there is none. */
export function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

/** Makes one, for its owner only; false where there is one already. */
export function makeDirectory(directory: string): boolean {
  try {
    fs.mkdirSync(directory, { mode: NEW_DIRECTORY });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST") && fs.statSync(directory).isDirectory()) return false;
    throw error;
  }
}

/** Removes those which are empty, or become so by that. */
export function removeEmpty(directories: readonly string[]): void {
  const fromInnermost = [...new Set(directories)].sort((one, other) => other.length - one.length);
  for (const directory of fromInnermost) {
    try {
      fs.rmdirSync(directory);
    } catch (error) {
      if (!STAYS.some((code) => hasCode(error, code))) throw error;
    }
  }
}

/** Something is in it (by either code), or it is not there. */
const STAYS = ["ENOTEMPTY", "EEXIST", "ENOENT"];
