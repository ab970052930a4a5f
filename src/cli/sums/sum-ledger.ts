import { availableParallelism } from "node:os";
import { parseDetails } from "../../adapters/ledger-file/closed-days.ts";
import type { DaySums, SumOptions } from "../../core/ledger/day-sums.ts";
import { blockOf } from "../../core/ledger/rollup/sum-block.ts";
import type { SkippedLines } from "../ledger/records-of-period.ts";
import { planDays, type ClosedSums, type PlannedDay } from "./plan-days.ts";
import { DaySummer, type DayToRead, type LedgerQuestion, type ReadDay } from "./sum-day.ts";
import { sumInWorkers } from "./sum-in-workers.ts";

/** With less to read, two workers save less than they take to start. Measured: about as fast here. */
const WORTH_WORKERS_BYTES = 64e6;

/** Bounds the memory: two workers and this process together take 170 MB. */
const MOST_WORKERS = 4;

/** The sums of a day, or of all days up to `last`, as records were read or as it was planned. */
type SummedDay = { day: string } & (
  | { sums: DaySums; skipped: SkippedLines }
  | { closed: ClosedSums; last: string; left: "divided" | "undivided" | null }
  | { left: "damaged" }
);

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
  const days = await planDays(question, options.slots);
  const toRead = days.filter((day) => "bytes" in day);
  const total = toRead.reduce((sum, { bytes }) => sum + bytes, 0);
  const reading = readDays(question, options, toRead, total);
  let read = 0;
  try {
    for (const day of days) {
      if (!("bytes" in day)) yield toSummed(day.day, day);
      else {
        const next = await reading.next();
        if (next.done === true) return;
        read += day.bytes;
        onProgress(read / total);
        yield toSummed(day.day, next.value);
      }
    }
  } finally {
    await reading.return();
  }
}

function toSummed(day: string, read: ReadDay | Exclude<PlannedDay, { bytes: number }>): SummedDay {
  if ("sums" in read) return { day, ...read };
  if ("rollups" in read) {
    const { last, left, rollups } = read;
    const all = function* () {
      for (const file of rollups) yield file.read();
    };
    return { day, last, left, closed: { blocks: () => [blockOf("rollup", all())] } };
  }
  const closed = { day, last: day, left: null };
  if ("rollup" in read) return { ...closed, closed: { blocks: () => [blockOf("rollup", [read.rollup])] } };
  if ("left" in read) return read;
  const { details } = read;
  if (!(details instanceof Uint8Array)) return { ...closed, closed: details };
  const { buffer, byteOffset, length } = details;
  const file = parseDetails(Buffer.from(buffer, byteOffset, length), day);
  return file === null ? { day, left: "damaged" } : { ...closed, closed: file };
}

/** Reads days in their order, in workers if there is enough to read. */
function readDays(
  question: LedgerQuestion,
  options: SumOptions,
  days: readonly DayToRead[],
  bytes: number,
): AsyncGenerator<ReadDay, void> {
  const summer = new DaySummer(question, options);
  const workers =
    bytes < WORTH_WORKERS_BYTES ? 1 : Math.min(availableParallelism(), MOST_WORKERS, days.length);
  return workers > 1 ? sumInWorkers(question, days, workers, summer) : readHere(days, summer);
}

async function* readHere(days: readonly DayToRead[], summer: DaySummer): AsyncGenerator<ReadDay, void> {
  for (const day of days) yield await summer.read(day);
}
