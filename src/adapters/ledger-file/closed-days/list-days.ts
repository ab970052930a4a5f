import * as fs from "node:fs";
import { join } from "node:path";
import { parseLedgerFileName, recordFileNames, sumsFileName } from "../../../core/ledger/day.ts";
import type { FileState } from "../../../core/ledger/rollup/rollup-text.ts";
import { namesIn } from "../open-day.ts";
import { isInRange, type DayRange } from "../reader.ts";

/** A day of the ledger: the files that have its records, which may have been deleted, and whether there is a rollup of it, and a kept one. */
export interface LedgerDay {
  day: string;
  files: readonly FileState[];
  hasRollup: boolean;
  isKept: boolean;
}

/** Returns the days in range, in their order. Throws like `readLedger`. */
export function listDays(directory: string, range: DayRange): LedgerDay[] {
  const days = new Map<string, { day: string; files: FileState[]; hasRollup: boolean; isKept: boolean }>();
  for (const name of namesIn(directory).sort()) {
    const file = parseLedgerFileName(name);
    if (file === null || file.kind === "torn" || file.kind === "details" || !isInRange(file.day, range))
      continue;
    const { day, kind } = file;
    let found = days.get(day);
    if (found === undefined) days.set(day, (found = { day, files: [], hasRollup: false, isKept: false }));
    if (kind === "kept") found.isKept = true;
    if (kind === "kept" || kind === "rollup") found.hasRollup = true;
    else found.files.push(...stateOf(directory, name));
  }
  return [...days.values()];
}

/** Returns the days whose records are there, from one on. Throws likewise. */
export function listRecordedDays(directory: string, from = ""): LedgerDay[] {
  return listDays(directory, { from }).filter(({ files }) => files.length > 0);
}

/** Returns the files that have the records of a day. */
export function filesOf(directory: string, day: string): FileState[] {
  return recordFileNames(day).flatMap((name) => stateOf(directory, name));
}

/** True when none of the files was written, replaced or deleted since. */
export function areSame(some: readonly FileState[], others: readonly FileState[]): boolean {
  return some.length === others.length && some.every((file, at) => isSame(file, others[at]));
}

/**
 * True when files that sums were made from are deleted, so that these sums are the only copy of what they had. `named` are those that the
 * sums name. A file that was compressed or decompressed has kept its time.
 */
export function areDeleted(named: readonly FileState[], files: readonly FileState[]): boolean {
  const isThere = ({ name, mtime }: FileState) =>
    files.some((file) => file.name === name || file.mtime === mtime);
  return named.length === 0 || !named.every(isThere);
}

/** True when sums that name these files have all records of the others, as where a deletion was interrupted. */
export function coverAll(named: readonly FileState[], files: readonly FileState[]): boolean {
  return files.every((file) => named.some((one) => isSame(one, file)));
}

function isSame(file: FileState, other: FileState | undefined): boolean {
  return file.name === other?.name && file.bytes === other.bytes && file.mtime === other.mtime;
}

/** Returns the files of a day's records, and the rollup that was made from them, as far as they are there. */
export function withRollup(directory: string, { day, files }: LedgerDay): FileState[] {
  return [...files, ...stateOf(directory, sumsFileName(day, "rollup"))];
}

/** Returns nothing for a file that was deleted since it was listed. */
function stateOf(directory: string, name: string): FileState[] {
  // Synchronous, which takes 5 µs; a year has hundreds.
  const found = fs.lstatSync(join(directory, name), { throwIfNoEntry: false });
  return found === undefined ? [] : [{ name, bytes: found.size, mtime: Math.round(found.mtimeMs) }];
}
