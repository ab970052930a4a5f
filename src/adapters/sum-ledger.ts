import { DaySums, type SumOptions } from "../core/ledger/day-sums.ts";
import { dayAt } from "../core/ledger/day.ts";
import type { Period } from "../core/ledger/period.ts";
import { findDays, visitDay, type UnreadableLine } from "./ledger-file.ts";

/** Sorts behind every time. */
const AFTER_ALL = "~";

/** The sums of a day's file, and its lines that are not records. */
interface SummedDay {
  sums: DaySums;
  unreadable: readonly UnreadableLine[];
}

/** Yields the sums of the records of a period, day by day in their order. Throws like `readLedger`. */
export async function* sumDays(
  directory: string,
  { since, until }: Pick<Period, "since" | "until">,
  options: SumOptions,
): AsyncGenerator<SummedDay> {
  const from = new Date(since).toISOString();
  const before = until === null ? AFTER_ALL : new Date(until).toISOString();
  const range = { from: dayAt(since), ...(until !== null && { to: dayAt(until - 1) }) };
  for (const day of await findDays(directory, range)) {
    const sums = new DaySums(options);
    const unreadable: UnreadableLine[] = [];
    await visitDay(directory, day, (entry) => {
      if ("unreadable" in entry) unreadable.push(entry);
      else if (entry.ts >= from && entry.ts < before) sums.add(entry);
    });
    yield { sums, unreadable };
  }
}
