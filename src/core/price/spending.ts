import type { SummableRecord } from "../ledger/record.ts";
import { isPlanUpstream } from "../plans/names.ts";
import { priceCharge, priceWorth, type Missing } from "./charge-cost.ts";
import { ChargeSums, type PriceSlots } from "./charge-sums.ts";

import { billOf, type Charge } from "./charge.ts";
import { formatMoney, parseMoney, type Money } from "./money.ts";
import type { PriceBook } from "./price-book.ts";

export type { PriceSlots };

/** What many requests cost. */
export interface SpendingCost {
  /** The sum of all that has a price, and of all bills. */
  amount: Money;
  /** The part of it that services said they charged. */
  billed: Money;
  /** The part of it at prices of the configuration. */
  own: Money;
  /** False when the requests cost more than `amount`, or may have: partial or unknown usage, or something without a price. */
  isExact: boolean;
  /** What has no price, and how many requests used it. Distinct. */
  unpriced: readonly (Missing & { requests: number })[];
  /** Requests whose cost is unknown, because their usage is. */
  unknown: number;
  /** What caches saved: input at the price of uncached input, less what it cost. Negative when writing cost more than reading saved. */
  saved: Money;
  /** What plans paid, at the prices without one: in no other sum. `isExact` as above. null where no plan paid anything. */
  worth: { amount: Money; isExact: boolean } | null;
}

/** Returns what is known of a cost, at least; null where nothing of it is. Never show that as 0. */
export function knownAmount({ amount, isExact }: SpendingCost): Money | null {
  return amount === 0n && !isExact ? null : amount;
}

/** {@link Spending} as data. */
export interface EncodedSpending {
  billed: string;
  charges: readonly Charge[];
  /** How many charges were left out, because their terms would have been too many. */
  leftOut: number;
}

/** What many requests are charged for. Charges with the same terms are added up, and priced when the cost is asked for. */
export class Spending {
  readonly #charges: ChargeSums;
  #billed: Money = 0n;
  #leftOut = 0;

  /** @param limit how many different terms are kept; what exceeds it makes the cost a lower bound */
  constructor(slots: PriceSlots, limit?: number) {
    this.#charges = new ChargeSums(slots, limit);
  }

  /** Adds a request's bill, or else its charges. `own` are those of `chargesOf` that belong to it. */
  addRequest(record: Pick<SummableRecord, "billed_usd">, own: readonly Charge[]): void {
    this.#billed += billOf(record) ?? 0n;
    for (const charge of own) this.addCharge(charge);
  }

  /** Adds a charge. */
  addCharge(charge: Charge): void {
    if (!this.#charges.add(charge)) this.#leftOut += 1;
  }

  /** Adds all of another one. */
  add(other: Spending): void {
    this.#billed += other.#billed;
    this.#leftOut += other.#leftOut;
    for (const charge of other.#charges.all()) this.addCharge(charge);
  }

  /** Returns it as data that JSON can represent. */
  encode(): EncodedSpending {
    return {
      billed: formatMoney(this.#billed),
      charges: this.#charges.all(),
      leftOut: this.#leftOut,
    };
  }

  /** Adds what another one was encoded to. */
  addEncoded({ billed, charges, leftOut }: EncodedSpending): void {
    this.#billed += parseMoney(billed) ?? 0n;
    this.#leftOut += leftOut;
    for (const charge of charges) this.addCharge(charge);
  }

  /** Returns what it costs. Prices must be those that the slots are of. */
  cost(prices: PriceBook): SpendingCost {
    const unpriced = new Map<string, Missing & { requests: number }>();
    let [amount, own, saved, unknown, isExact] = [this.#billed, 0n, 0n, 0, this.#leftOut === 0];
    let worth: SpendingCost["worth"] = null;
    for (const charge of this.#charges.all()) {
      if (isPlanUpstream(charge.terms.upstream)) {
        worth = addWorth(worth, charge, prices);
        continue;
      }
      const cost = priceCharge(charge, prices);
      for (const { amount: more } of cost.lines) {
        amount += more;
        if (cost.from === "configuration") own += more;
      }
      saved += cost.saved;
      if (cost.certainty === "unknown") unknown += charge.requests;
      if (cost.certainty !== "exact" || cost.missing.length > 0) isExact = false;
      for (const missing of cost.missing) {
        const key = JSON.stringify([missing.model, missing.what]);
        const requests = (unpriced.get(key)?.requests ?? 0) + charge.requests;
        unpriced.set(key, { ...missing, requests });
      }
    }
    return {
      amount,
      billed: this.#billed,
      own,
      isExact,
      unpriced: [...unpriced.values()],
      unknown,
      saved,
      worth,
    };
  }
}

function addWorth(sum: SpendingCost["worth"], charge: Charge, prices: PriceBook): SpendingCost["worth"] {
  const { lines, certainty, missing } = priceWorth(charge, prices);
  const amount = lines.reduce((all, line) => all + line.amount, sum?.amount ?? 0n);
  const isExact = certainty === "exact" && missing.length === 0;
  return { amount, isExact: isExact && (sum?.isExact ?? true) };
}
