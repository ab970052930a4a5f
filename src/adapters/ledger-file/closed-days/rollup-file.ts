import * as fs from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { rollupFileName } from "../../../core/ledger/day.ts";
import {
  formatRollup,
  parseRollup,
  type FileState,
  type RollupFile,
} from "../../../core/ledger/rollup/rollup-text.ts";
import type { Rollup } from "../../../core/ledger/rollup.ts";
import { replaceFile } from "../../../replace-file.ts";

/** Reads the rollup of a day; null when there is none, or none that can be used. */
export function readRollup(directory: string, day: string): RollupFile | null {
  const file = readIfRegular(join(directory, rollupFileName(day)));
  return file === null ? null : parseRollup(file, day, crc32);
}

/**
 * Writes the rollup of a day. `files` are those that its records were read from. Throws an errno error when it cannot be written.
 */
export function writeRollup(directory: string, rollup: Rollup, files: readonly FileState[]): void {
  replaceFile(join(directory, rollupFileName(rollup.day)), formatRollup(rollup, files, crc32));
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
