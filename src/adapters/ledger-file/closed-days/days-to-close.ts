import { dayFileName, isClosed, oldestKeptDay } from "../../../core/ledger/day.ts";
import { listRecordedDays, type LedgerDay } from "./list-days.ts";

/** What is to be done with the days that are over. */
export interface Closing {
  directory: string;
  /** Records are kept for so many days. */
  retainDays: number;
  /** Wall time in milliseconds since 1970. */
  now: number;
  /** The sizes that prompts are told apart by: `PriceBook.allLimits`. */
  limits: readonly number[];
}

/** Returns whether `closeDays` would change anything. */
export function hasDaysToClose({ directory, retainDays, now }: Omit<Closing, "limits">): boolean {
  const days = listRecordedDays(directory);
  const oldest = oldestOf(days, { retainDays, now });
  return days.some(
    ({ day, files, hasRollup: isSummedUp }) =>
      isClosed(day, now) &&
      (day < oldest || !isSummedUp || files.some(({ name }) => name === dayFileName(day))),
  );
}

/** Returns the first day whose records are kept. */
export function oldestOf(
  days: readonly LedgerDay[],
  { retainDays, now }: Pick<Closing, "retainDays" | "now">,
): string {
  const names = days.map(({ day }) => day);
  return oldestKeptDay(names, now, retainDays);
}
