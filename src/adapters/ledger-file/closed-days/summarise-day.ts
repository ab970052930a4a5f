import { DAY_SLOTS } from "../../../core/price/time-slots.ts";
import { RollupBuilder, type Rollup } from "../../../core/ledger/rollup.ts";
import { areSame, filesOf } from "./list-days.ts";
import { visitDay } from "../reader.ts";
import { readRollup, writeRollup } from "./rollup-file.ts";

/**
 * Reads the records of a closed day, and writes their sums beside them, divided at `cuts`, in milliseconds since 1970. Returns the sums
 * also where they cannot be written, such as on a full disk: the next one to ask makes them again. Throws like `readLedger`.
 */
export async function summariseDay(directory: string, day: string, cuts: readonly number[]): Promise<Rollup> {
  const files = filesOf(directory, day);
  const rollup = await sumUp(directory, day, cuts);
  if (!areSame(files, filesOf(directory, day))) return rollup;
  try {
    writeRollup(directory, rollup, files);
  } catch {
    // A directory that this user may only read, or a full disk, which doctor reports.
  }
  return rollup;
}

/** Says what is wrong with the rollup of a day; null if nothing is, or if the day has changed since, so that it is not used. */
export async function findRollupProblem(directory: string, day: string): Promise<string | null> {
  const file = readRollup(directory, day);
  if (file?.isIntact !== true) return "it cannot be read";
  const files = filesOf(directory, day);
  if (!areSame(file.files, files)) return null;
  const sums = await sumUp(directory, day, file.cuts);
  return describe(sums) === describe(file.read()) ? null : "its sums are not those of the records";
}

async function sumUp(directory: string, day: string, cuts: readonly number[]): Promise<Rollup> {
  const builder = new RollupBuilder(day, cuts, DAY_SLOTS);
  await visitDay(directory, day, (entry) => {
    if ("unreadable" in entry) builder.skip(entry);
    else builder.add(entry);
  });
  return builder.finish();
}

/** Returns all of a rollup as text, with its parts in one order. */
function describe({ day, terms, segments, times, skipped }: Rollup): string {
  return JSON.stringify([day, terms, segments, times, skipped]);
}
