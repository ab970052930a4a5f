import { dayFileName, isClosed, oldestKeptDay } from "../../../core/ledger/day.ts";
import { listDays, type LedgerDay } from "./list-days.ts";

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
  const all = listDays(directory, { from: "" });
  if (all.some(isUnkept)) return true;
  const days = all.filter(({ files }) => files.length > 0);
  const oldest = oldestOf(days, { retainDays, now });
  return days.some(
    ({ day, files, hasRollup: isSummedUp }) =>
      isClosed(day, now) &&
      (day < oldest || !isSummedUp || files.some(({ name }) => name === dayFileName(day))),
  );
}

/** True for a day whose records are deleted, with sums that are not kept yet: those of an earlier version, or somebody deleted the records. */
function isUnkept({ files, hasRollup, isKept }: LedgerDay): boolean {
  return files.length === 0 && hasRollup && !isKept;
}

/** Returns the first day whose records are kept. */
export function oldestOf(
  days: readonly LedgerDay[],
  { retainDays, now }: Pick<Closing, "retainDays" | "now">,
): string {
  const names = days.map(({ day }) => day);
  return oldestKeptDay(names, now, retainDays);
}
