import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { parseLedgerFileName } from "../../core/ledger/day.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";

/** A file of the ledger: a day's records, or the lines that a crash truncated on that day (`isTorn`). */
export interface LedgerFile {
  name: string;
  path: string;
  day: string;
  isTorn: boolean;
  bytes: number;
}

/**
 * Lists the files of a ledger by their names, those of the oldest day first; a missing directory has none. What has such a name but is
 * no regular file is listed too. Throws a Failure when the directory cannot be read.
 */
export async function listLedgerFiles(directory: string): Promise<LedgerFile[]> {
  const files: LedgerFile[] = [];
  for (const name of (await namesIn(directory)).toSorted()) {
    const parsed = parseLedgerFileName(name);
    if (parsed === null) continue;
    const path = join(directory, name);
    const bytes = await sizeOf(path);
    if (bytes !== null) files.push({ name, path, ...parsed, bytes });
  }
  return files;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return [];
    throw new Failure(`cannot read the ledger: ${messageOf(cause)}`, `ls -ld ${quoteForShell(directory)}`, {
      cause,
    });
  }
}

/** Returns null for a file that was deleted since. */
async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
