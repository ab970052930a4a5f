import { closeDays, type ClosedDays } from "../../adapters/ledger-file/closed-days.ts";
import type { Closing } from "../../adapters/ledger-file.ts";
import { loadPriceBook } from "../../adapters/price-table.ts";
import type { PriceSettings } from "../../core/config/config.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";

/** What is to be closed, and by which prices prompts are told apart. */
export type ClosingQuestion = Omit<Closing, "limits"> & { prices: PriceSettings };

/** Closes the days of a ledger that are over. Rejects when its directory cannot be read. */
export async function closeLedgerDays({ prices, ...closing }: ClosingQuestion): Promise<ClosedDays> {
  const limits = (await loadPriceBook(prices)).allLimits();
  return closeDays({ ...closing, limits }, localCalendar());
}
