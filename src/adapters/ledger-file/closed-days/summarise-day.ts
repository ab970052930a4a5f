import { RollupBuilder, type Rollup } from "../../../core/ledger/rollup.ts";
import type { FileState, RollupFile } from "../../../core/ledger/rollup/rollup-text.ts";
import type { RollupKind } from "../../../core/ledger/day.ts";
import { areDeleted, areSame, filesOf } from "./list-days.ts";
import { visitDay } from "../reader.ts";
import { readRollup, writeRollup } from "./rollup-file.ts";

/**
 * Reads the records of a closed day, and writes their sums beside them, divided at `cuts`, in milliseconds since 1970, and with
 * prompts told apart by `limits` (`PriceBook.allLimits`). Returns the sums also where they cannot be written, such as on a full disk: the next one to ask makes them again. Throws like `readLedger`.
 */
export async function summariseDay(
  directory: string,
  day: string,
  { cuts, limits }: Pick<RollupFile, "cuts" | "limits">,
  kind: RollupKind = "rollup",
): Promise<Rollup> {
  const files = filesOf(directory, day);
  const rollup = await sumUp(kind, directory, day, { cuts, limits });
  if (!areSame(files, filesOf(directory, day))) return rollup;
  try {
    writeRollup(directory, rollup, files);
  } catch {
    // A directory that this user may only read, or a full disk, which doctor reports.
  }
  return rollup;
}

/** What is known about the rollup of a day. */
interface RollupVerdict {
  /** What is wrong with it; null if nothing is, or if the day has changed since, so that it is not used. */
  problem: string | null;
  /** True when the records that it sums up are deleted, so that there is no other copy of these sums. */
  isOnlyCopy: boolean;
}

/** Verifies the sums of a day against its records, as far as they are still there. */
export async function verifyRollup(directory: string, day: string, kind: RollupKind): Promise<RollupVerdict> {
  const file = readRollup(directory, day, kind);
  const files = filesOf(directory, day);
  const isOnlyCopy =
    kind === "rollup" && (files.length === 0 || (file !== null && areDeleted(file.files, files)));
  if (file?.isIntact !== true) return { problem: "it cannot be read", isOnlyCopy };
  return { problem: isOnlyCopy ? null : await compare({ directory, day, kind }, file, files), isOnlyCopy };
}

async function compare(
  { directory, day, kind }: { directory: string; day: string; kind: RollupKind },
  file: RollupFile,
  files: readonly FileState[],
): Promise<string | null> {
  if (!file.isCurrent || !areSame(file.files, files)) return null;
  const sums = await sumUp(kind, directory, day, file);
  return describe(sums) === describe(file.read()) ? null : "its sums are not those of the records";
}

async function sumUp(
  kind: RollupKind,
  directory: string,
  day: string,
  { cuts, limits }: Pick<RollupFile, "cuts" | "limits">,
): Promise<Rollup> {
  const builder = new RollupBuilder(kind, day, cuts, limits);
  await visitDay(directory, day, (entry) => {
    if ("unreadable" in entry) builder.skip(entry);
    else builder.add(entry);
  });
  return builder.finish();
}

/** Returns all of a rollup as text, with its parts in one order. */
function describe({ day, terms, segments, times, skipped }: Rollup): string {
  return JSON.stringify([day, terms, segments, times.texts, skipped]);
}
