import * as fs from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../core/failure.ts";
import type { Calendar } from "../../../core/ledger/calendar.ts";
import {
  dayFileName,
  isClosed,
  recordFileNames,
  sumsFileName,
  tornFileName,
} from "../../../core/ledger/day.ts";
import { hoursIn, midnightsIn } from "../../../core/ledger/rollup/cuts.ts";
import { oldestOf, type Closing } from "./days-to-close.ts";
import { compressDay } from "./compress-day.ts";
import type { FileState } from "../../../core/ledger/rollup/rollup-text.ts";
import { areDeleted, areSame, coverAll, filesOf, listDays } from "./list-days.ts";
import { deleteMonthOf } from "./month-file.ts";
import { readRollup, readStored, writeRollup } from "./rollup-file.ts";
import { detailDay, summariseDay } from "./summarise-day.ts";

/** What can be made again from the records of a day. */
const CACHES = ["rollup", "details"] as const;

const STORED = ["kept", "rollup"] as const;

const HOUR_MS = 60 * 60 * 1000;

/** A file that is being written. */
const UNFINISHED = /^(?:[\d-]{10}\.(?:ndjson\.gz|rollup|details|kept)|[\d-]{7}\.month)\.\d+\.new$/;

/** What was done. */
export interface ClosedDays {
  compressed: number;
  /** Files that were deleted. */
  deleted: string[];
  problems: { day: string; reason: string }[];
}

/**
 * Sums up each closed day beside its records, compresses them, and deletes those that are older than `retainDays`, as far as
 * `oldestKeptDay` trusts the clock; their sums stay. Records without sums on the disk are never deleted. One day that cannot be
 * closed keeps none of the others from it.
 */
export async function closeDays(
  { directory, retainDays, now, limits }: Closing,
  calendar: Calendar,
): Promise<ClosedDays> {
  const sums = { limits, calendar };
  const closed: ClosedDays = { compressed: 0, deleted: [], problems: [] };
  const all = listDays(directory, { from: "" });
  const days = all.filter(({ files }) => files.length > 0);
  const oldest = oldestOf(days, { retainDays, now });
  deleteUnfinished(directory, now);
  for (const { day } of all)
    try {
      keepApart(directory, day);
    } catch (error) {
      closed.problems.push({ day, reason: messageOf(error) });
    }
  for (const { day, files } of days) {
    if (!isClosed(day, now)) continue;
    const named = readRollup(directory, day)?.files;
    const isKept = named !== undefined && areDeleted(named, files);
    // What arrived after the records were deleted stays beside their sums as it is. An interrupted deletion is finished.
    if (isKept && !(day < oldest && coverAll(named, files))) continue;
    try {
      if (day < oldest) closed.deleted.push(...(await deleteDay(directory, day, sums)));
      else if (files.some(({ name }) => name === dayFileName(day))) {
        await compressAndSum(directory, day, sums);
        await detailDay(directory, day, { cuts: hoursIn(day, calendar, []) ?? [], limits });
        closed.compressed += 1;
      } else if (!hasRollup(directory, day)) await ensureRollup(directory, day, sums);
    } catch (error) {
      closed.problems.push({ day, reason: messageOf(error) });
    }
  }
  return closed;
}

/** How the sums of a day are divided: at the midnights of a calendar, and by sizes of prompts. */
interface WantedSums {
  calendar: Calendar;
  limits: readonly number[];
}

/**
 * Makes the sums of a day unless there are some that fit, also for the present prices: they may become the only copy. Throws when they cannot be written, and for records that arrived after others
 * of the day had been deleted, because the sums of those would be lost.
 */
async function ensureRollup(directory: string, day: string, wanted: WantedSums): Promise<void> {
  const { limits } = wanted;
  if (hasRollup(directory, day, limits)) return;
  if (areRecordsDeleted(directory, day)) throw new Error("it has sums of records that are deleted");
  await summariseDay(directory, day, wantedFor(day, wanted));
  if (!hasRollup(directory, day, limits)) throw new Error("its sums cannot be written");
}

function wantedFor(day: string, { calendar, limits }: WantedSums) {
  return { cuts: midnightsIn(day, calendar), limits };
}

function areRecordsDeleted(directory: string, day: string): boolean {
  const named = readRollup(directory, day)?.files;
  return named !== undefined && areDeleted(named, filesOf(directory, day));
}

/** @param limits the sizes of prompts that it must tell apart */
function hasRollup(directory: string, day: string, limits: readonly number[] = []): boolean {
  const found = readRollup(directory, day);
  if (found?.isCurrent !== true || !found.isIntact) return false;
  if (!limits.every((limit) => found.limits.includes(limit))) return false;
  const files = filesOf(directory, day);
  return areSame(found.files, files) || (areDeleted(found.files, files) && coverAll(found.files, files));
}

async function compressAndSum(directory: string, day: string, wanted: WantedSums): Promise<void> {
  const before = filesOf(directory, day);
  const found = readRollup(directory, day);
  const rollup = found !== null && hasRollup(directory, day) ? found.read() : null;
  // Something was appended since they were made. Once the file has another name, its records would pass for deleted, and count twice.
  if (rollup === null && found !== null && !areDeleted(found.files, before)) deleteCaches(directory, day);
  await compressDay(directory, day);
  const after = filesOf(directory, day);
  // The same lines in another file have the same sums.
  if (rollup !== null && after.length === 1 && isOfSameTime(before, after))
    writeRollup(directory, rollup, after);
  else await ensureRollup(directory, day, wanted);
}

/** True when the only file of a day has the time of the one that it replaces. */
function isOfSameTime([before]: readonly FileState[], [after]: readonly FileState[]): boolean {
  return before?.mtime === after?.mtime;
}

/** Deletes the records of a day, and what crashes truncated, once its sums are on the disk. Returns the names of the files. */
async function deleteDay(directory: string, day: string, wanted: WantedSums): Promise<string[]> {
  await keepSums(directory, day, wanted);
  const names = [...recordFileNames(day), tornFileName(day)];
  const deleted = names.filter((name) => deleteFile(join(directory, name)));
  markDeleted(directory, day);
  return deleted;
}

/** Keeps the sums of a day, whose records will be deleted, apart from the caches. Throws like {@link ensureRollup}. */
export async function keepSums(directory: string, day: string, wanted: WantedSums): Promise<void> {
  await ensureRollup(directory, day, wanted);
  const found = readRollup(directory, day);
  if (found?.isIntact !== true) throw new Error("its sums cannot be read");
  writeRollup(directory, found.read(), found.files, "kept");
}

/** Notes in the sums of a day that its records are deleted: what arrives later is not in them. Its caches go, too. */
export function markDeleted(directory: string, day: string): void {
  const found = readRollup(directory, day);
  if (found?.isIntact !== true || filesOf(directory, day).length > 0) return;
  writeRollup(directory, found.read(), [], "kept");
  deleteCaches(directory, day);
}

/**
 * Keeps sums apart from the caches that are the only copy all the same: an earlier version had them there, and somebody may have deleted
 * the records. Kept sums of a deletion that never began are a cache again.
 */
function keepApart(directory: string, day: string): void {
  const files = filesOf(directory, day);
  const [kept, rollup] = STORED.map((kind) => readStored(directory, day, kind));
  if (kept?.isIntact === true && rollup?.isIntact === true && !areDeleted(kept.files, files))
    deleteFile(join(directory, sumsFileName(day, "kept")));
  if (rollup?.isIntact !== true || !areDeleted(rollup.files, files)) return;
  if (kept?.isIntact !== true) writeRollup(directory, rollup.read(), rollup.files, "kept");
  deleteCaches(directory, day);
}

/** Deletes what could be made again if there were records. */
function deleteCaches(directory: string, day: string): void {
  for (const cache of CACHES) deleteFile(join(directory, sumsFileName(day, cache)));
  deleteMonthOf(directory, day);
}

/** Returns false for a file that is missing. */
function deleteFile(path: string): boolean {
  if (!fs.existsSync(path)) return false;
  fs.unlinkSync(path);
  return true;
}

/** Deletes what a process that was killed has left of a file that it was writing. */
function deleteUnfinished(directory: string, now: number): void {
  for (const name of fs.readdirSync(directory)) {
    const path = join(directory, name);
    if (!UNFINISHED.test(name) || now - fs.lstatSync(path).mtimeMs < HOUR_MS) continue;
    fs.rmSync(path, { force: true });
  }
}
