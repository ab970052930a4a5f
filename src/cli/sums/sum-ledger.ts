import { stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { dayAt, dayFileName } from "../../core/ledger/day.ts";
import { findDays } from "../../adapters/ledger-file.ts";
import type { SumOptions } from "../../core/ledger/day-sums.ts";
import { DaySummer, type LedgerQuestion, type SummedDay } from "./sum-day.ts";
import { sumInWorkers } from "./sum-in-workers.ts";

/** With less to read, two workers save less than they take to start. Measured: about as fast here. */
const WORTH_WORKERS_BYTES = 64e6;

/** Bounds the memory: two workers and this process together take 170 MB. */
const MOST_WORKERS = 4;

/**
 * Yields the sums of the records of a period, day by day in their order. Throws like `readLedger`.
 * @param options those of the question
 * @param onProgress is called with the share that has been read, from 0 to 1
 */
export async function* sumLedger(
  question: LedgerQuestion,
  options: SumOptions,
  onProgress: (share: number) => void,
): AsyncGenerator<SummedDay> {
  const { directory, since, until } = question;
  const days = await findDays(directory, {
    from: dayAt(since),
    ...(until !== null && { to: dayAt(until - 1) }),
  });
  const sizes = await Promise.all(days.map((day) => sizeOf(join(directory, dayFileName(day)))));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const summer = new DaySummer(question, options);
  const workers =
    total < WORTH_WORKERS_BYTES ? 1 : Math.min(availableParallelism(), MOST_WORKERS, days.length);
  const summed = workers > 1 ? sumInWorkers(question, days, workers, summer) : sumHere(days, summer);
  let [index, read] = [0, 0];
  for await (const day of summed) {
    read += sizes[index] ?? 0;
    index += 1;
    onProgress(read / total);
    yield day;
  }
}

async function* sumHere(days: readonly string[], summer: DaySummer): AsyncGenerator<SummedDay> {
  for (const day of days) yield await summer.sum(day);
}

/** Returns 0 for a file that was deleted since it was listed. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found?.size ?? 0;
}
