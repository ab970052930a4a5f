import { visitDayUntil } from "../../adapters/ledger-file.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";
import { CopyDetector } from "../../core/ledger/copies.ts";
import { RecentSpending, type RecentDocument } from "../../core/ledger/recent-spending.ts";
import type { Place } from "../ledger-follower.ts";

/** What the status line is to know. */
interface RecentQuestion {
  /** The first day, in UTC, `YYYY-MM-DD`. */
  from: string;
  /** Wall time in milliseconds since 1970. */
  now: number;
  /** The sizes that prompts are told apart by: `PriceBook.allLimits`. */
  limits: readonly number[];
}

/** Sums up what was spent lately, up to a place in the ledger. Rejects when that cannot be read. */
export async function sumUpRecent(
  { from, now, limits }: RecentQuestion,
  { directory, cursor }: Place,
): Promise<RecentDocument> {
  const recent = new RecentSpending(localCalendar(), now, limits);
  const copies = new CopyDetector();
  for (const [day, until] of Object.entries(cursor.days)) {
    if (day < from) continue;
    await visitDayUntil(directory, day, until, (record) => {
      if (!copies.isCopy(record)) recent.add(record, now);
    });
  }
  return recent.toDocument();
}
