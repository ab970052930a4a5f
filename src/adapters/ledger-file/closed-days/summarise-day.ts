import { join } from "node:path";
import { sumsFileName, type SumsKind } from "../../../core/ledger/day.ts";
import type { FileState, SumsFile } from "../../../core/ledger/rollup/rollup-text.ts";
import { RollupBuilder, type Rollup } from "../../../core/ledger/rollup.ts";
import { replaceFile } from "../../../replace-file.ts";
import { visitDay } from "../reader.ts";
import { DetailsWriter, parseDetails, readDetails } from "./details-file.ts";
import { areDeleted, areSame, filesOf } from "./list-days.ts";
import { readStored, writeRollup } from "./rollup-file.ts";

/** With so many groups, details are packed before they grow further: this bounds the memory that a busy day takes. */
const MOST_GROUPS = 10_000;

/** How many records are read until the groups are counted again. */
const RECORDS_AT_ONCE = 1_000;

type Wanted = Pick<SumsFile, "cuts" | "limits">;

/**
 * Reads the records of a closed day, and writes their sums beside them, divided at `cuts`, in milliseconds since 1970, and with
 * prompts told apart by `limits` (`PriceBook.allLimits`). Returns the sums also where they cannot be written, such as on a full disk: the next one to ask makes them again. Throws like `readLedger`.
 */
export async function summariseDay(directory: string, day: string, wanted: Wanted): Promise<Rollup> {
  const files = filesOf(directory, day);
  const rollup = await sumUp(directory, day, wanted);
  writeIfSame(directory, day, files, () => writeRollup(directory, rollup, files));
  return rollup;
}

/** Does the same for the details of a day. Returns the file that it writes. */
export async function detailDay(directory: string, day: string, wanted: Wanted): Promise<Buffer> {
  const files = filesOf(directory, day);
  const details = await packDetails(directory, day, { ...wanted, files });
  writeIfSame(directory, day, files, () =>
    replaceFile(join(directory, sumsFileName(day, "details")), details),
  );
  return details;
}

/** Writes sums, unless their records have changed meanwhile. */
function writeIfSame(directory: string, day: string, files: readonly FileState[], write: () => void): void {
  if (!areSame(files, filesOf(directory, day))) return;
  try {
    write();
  } catch {
    // A directory that this user may only read, or a full disk, which doctor reports.
  }
}

/** What is known about the rollup of a day. */
interface RollupVerdict {
  /** What is wrong with it; null if nothing is, or if the day has changed since, so that it is not used. */
  problem: string | null;
  /** True when the records that it sums up are deleted, so that there is no other copy of these sums. */
  isOnlyCopy: boolean;
}

/** Verifies the sums of a day against its records, as far as they are still there. */
export async function verifyRollup(directory: string, day: string, kind: SumsKind): Promise<RollupVerdict> {
  const file = kind === "details" ? readDetails(directory, day) : readStored(directory, day, kind);
  const files = filesOf(directory, day);
  const isWithoutRecords =
    files.length === 0 || (file === null ? kind === "kept" : areDeleted(file.files, files));
  const isOnlyCopy = kind !== "details" && isWithoutRecords && isOnlyOne(directory, day, kind);
  if (file?.isIntact !== true) return { problem: "it cannot be read", isOnlyCopy };
  if (isOnlyCopy || !file.isCurrent || !areSame(file.files, files)) return { problem: null, isOnlyCopy };
  const isRight =
    "parts" in file
      ? areEqual(file.parts(), parseDetails(await packDetails(directory, day, file), day)?.parts() ?? [])
      : describe(await sumUp(directory, day, file)) === describe(file.read());
  return { problem: isRight ? null : "its sums are not those of the records", isOnlyCopy };
}

/** True for the only sums of records that are deleted: kept ones, or a rollup that no daemon has kept yet. */
function isOnlyOne(directory: string, day: string, kind: Exclude<SumsKind, "details">): boolean {
  return kind === "kept" || readStored(directory, day, "kept") === null;
}

async function sumUp(directory: string, day: string, { cuts, limits }: Wanted): Promise<Rollup> {
  const builder = new RollupBuilder("rollup", day, cuts, limits);
  await visitDay(directory, day, (entry) => {
    if ("unreadable" in entry) builder.skip(entry);
    else builder.add(entry);
  });
  return builder.take();
}

async function packDetails(
  directory: string,
  day: string,
  { cuts, limits, files }: Wanted & Pick<SumsFile, "files">,
): Promise<Buffer> {
  const builder = new RollupBuilder("details", day, cuts, limits);
  const writer = new DetailsWriter();
  let records = 0;
  await visitDay(directory, day, (entry) => {
    if ("unreadable" in entry) builder.skip(entry);
    else builder.add(entry);
    records += 1;
    if (records % RECORDS_AT_ONCE === 0 && builder.size >= MOST_GROUPS) writer.add(builder.take());
  });
  writer.add(builder.take());
  return writer.finish(day, { files, cuts, limits });
}

/** Returns all of a rollup as text, with its parts in one order. */
function describe({ day, terms, segments, times, skipped }: Rollup): string {
  return JSON.stringify([day, terms, segments, times.texts, skipped]);
}

function areEqual(some: Iterable<Uint8Array>, others: Iterable<Uint8Array>): boolean {
  const expected = [...others];
  const found = [...some];
  return (
    found.length === expected.length &&
    found.every((part, at) => Buffer.compare(part, expected[at] ?? part) === 0)
  );
}
