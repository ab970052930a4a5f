import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../core/failure.ts";
import { parseLedgerFileName, type LedgerFileKind } from "../../core/ledger/day.ts";
import { namesIn } from "./open-day.ts";

/** A file of the ledger. */
export interface LedgerFile {
  name: string;
  path: string;
  day: string;
  kind: LedgerFileKind;
  /** False for what only has the name of such a file: a link or a directory. */
  isRegular: boolean;
  bytes: number;
}

/**
 * Lists the files of a ledger, those of the oldest day first; a missing directory has none. Throws a Failure when the directory cannot be read.
 */
export async function listLedgerFiles(directory: string): Promise<LedgerFile[]> {
  const files: LedgerFile[] = [];
  for (const name of namesIn(directory).toSorted()) {
    const parsed = parseLedgerFileName(name);
    if (parsed === null) continue;
    const path = join(directory, name);
    const found = await statsOf(path);
    if (found !== null) files.push({ name, path, ...parsed, isRegular: found.isFile(), bytes: found.size });
  }
  return files;
}

/** Returns null for a file that was deleted since. */
async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
