import { Tally } from "../ledger/tally.ts";
import { NO_SLOTS } from "../price/time-slots.ts";
import type { EncodedTally } from "../ledger/tally.ts";
import type { PriceBook } from "../price/price-book.ts";
import { parseMoney } from "../price/money.ts";
import type { BudgetBook } from "./book.ts";
import { addCharge, addTokens, nothing, type Spent } from "./spent.ts";

/**
 * True when the records of a time are needed one by one at `now`: a sum would not say in which window of a budget they were. Records of
 * background responses are needed even where it is false. `until` is the first moment after the time.
 */
export function needsRecords(
  { gauges }: BudgetBook,
  { from, until }: { from: number; until: number },
  now: number,
): boolean {
  if (until > now) return true;
  return gauges.some(
    (gauge) => until > gauge.windows.at(now).start && gauge.cellOf(from) !== gauge.cellOf(until - 1),
  );
}

/** Returns what requests spent by their sums, as it comes out from their records; null when the sums left something out. */
export function spentInSums(encoded: EncodedTally, prices: PriceBook | null): Spent | null {
  const { billed, charges, leftOut } = encoded.spending;
  if (leftOut > 0) return null;
  const sums = new Tally(NO_SLOTS);
  sums.addEncoded({ ...encoded, spending: { billed: "0", charges: [], leftOut: 0 } });
  const spent = nothing();
  addTokens(spent.known.tokens, sums);
  spent.known.usd = parseMoney(billed) ?? 0n;
  for (const charge of charges) addCharge(spent, charge, prices);
  return spent;
}
