import { findDays, visitDay } from "../../../../adapters/ledger-file.ts";
import { SANDBOX_UPSTREAM } from "../../../../core/config/names.ts";
import type { Amount } from "../../../../core/digest/past.ts";
import { CopyDetector } from "../../../../core/ledger/copies.ts";
import type { Period } from "../../../../core/ledger/period.ts";
import type { SummableRecord } from "../../../../core/ledger/record.ts";
import { classify, isBackground } from "../../../../core/ledger/spend.ts";
import { sumTokens, Tally } from "../../../../core/ledger/tally.ts";
import { chargesOf } from "../../../../core/price/charge.ts";
import type { PriceBook } from "../../../../core/price/price-book.ts";
import { daysOf } from "../../../ledger/records-of-period.ts";
import { toDollars } from "./dollars.ts";

/**
 * Calls `visit` with each request of a period, and what it used. Leaves out the sandbox's, those that spent nothing, and background
 * responses, whose usage is in the record of another request.
 */
export async function visitRequests(
  directory: string,
  period: Pick<Period, "since" | "until">,
  prices: PriceBook,
  visit: (record: SummableRecord, amount: Amount) => void,
): Promise<void> {
  const copies = new CopyDetector();
  const first = new Date(period.since).toISOString();
  const end = period.until === null ? null : new Date(period.until).toISOString();
  for (const day of findDays(directory, daysOf(period)))
    await visitDay(directory, day, (entry) => {
      if ("unreadable" in entry || entry.ts < first || (end !== null && entry.ts >= end)) return;
      if (entry.upstream === SANDBOX_UPSTREAM || copies.isCopy(entry)) return;
      const kind = classify(entry);
      if (kind === "request" && !isBackground(entry, kind)) visit(entry, amountOf(entry, prices));
    });
}

function amountOf(record: SummableRecord, prices: PriceBook): Amount {
  const tally = new Tally(prices);
  const { own, extra } = chargesOf(record);
  tally.addRequest({ record, source: record }, own);
  const charges = extra.values();
  for (const set of record.extra)
    tally.addExtra(set, set.billable === true ? charges.next().value : undefined);
  const { amount, worth } = tally.spending.cost(prices);
  return { usd: toDollars(amount + (worth?.amount ?? 0n)), tokens: sumTokens(tally), requests: 1 };
}
