import * as fs from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { sumsFileName, type SumsKind } from "../../../core/ledger/day.ts";
import {
  formatRollup,
  parseRollup,
  type FileState,
  type RollupFile,
} from "../../../core/ledger/rollup/rollup-text.ts";
import type { Rollup } from "../../../core/ledger/rollup.ts";
import { replaceFile } from "../../../replace-file.ts";
import { areDeleted, filesOf } from "./list-days.ts";

/** Sums of a day in one file: a cache, or those that are kept because its records are deleted. */
type StoredKind = Exclude<SumsKind, "details">;

/** Reads the sums of a day: the kept ones where its records are deleted, and the cache where not; null when there are none that can be used. */
export function readRollup(directory: string, day: string): RollupFile | null {
  const kept = fs.existsSync(join(directory, sumsFileName(day, "kept")))
    ? readStored(directory, day, "kept")
    : null;
  if (kept !== null && areDeleted(kept.files, filesOf(directory, day))) return kept;
  return readStored(directory, day, "rollup") ?? kept;
}

/** Reads the sums of a day from one of its files; null when there is none, or none that can be used. */
export function readStored(directory: string, day: string, kind: StoredKind): RollupFile | null {
  const file = readIfRegular(join(directory, sumsFileName(day, kind)));
  return file === null ? null : parseRollup(file, day, crc32);
}

/**
 * Writes the sums of a day. `files` are those that its records were read from. Throws an errno error when they cannot be written.
 */
export function writeRollup(
  directory: string,
  rollup: Rollup,
  files: readonly FileState[],
  kind: StoredKind = "rollup",
): void {
  replaceFile(join(directory, sumsFileName(rollup.day, kind)), formatRollup(rollup, files, crc32));
}

/** Returns null for a file that is missing, or is not a regular one, such as a link that somebody planted. */
export function readIfRegular(path: string): Buffer | null {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
  let fd: number | null = null;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return fs.fstatSync(fd).isFile() ? fs.readFileSync(fd) : null;
  } catch {
    return null;
  } finally {
    if (fd !== null) fs.closeSync(fd);
  }
}
