import type { SummableRecord } from "../ledger/record.ts";
import { isExtraUpstream, isOwnUpstream, isPlanUpstream } from "../plans/names.ts";
import { priceCharge, priceWorth } from "./charge-cost.ts";
import { ChargeSums, type PriceSlots } from "./charge-sums.ts";
import { billOf, type Charge } from "./charge.ts";
import { formatMoney, parseMoney, type Money } from "./money.ts";
import type { PriceBook } from "./price-book.ts";
import { amountOf, CostSum, type SpendingCost } from "./spending/cost-sum.ts";

export type { PriceSlots, SpendingCost };

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
    const sum = new CostSum(this.#billed, this.#leftOut === 0);
    for (const charge of this.#charges.all()) {
      const { upstream } = charge.terms;
      if (isPlanUpstream(upstream)) sum.addWorth(amountOf(priceWorth(charge, prices)));
      else if (isExtraUpstream(upstream))
        sum.addExtra(charge.requests, amountOf(priceCharge(charge, prices)));
      else if (isOwnUpstream(upstream)) sum.addOwnWorth(amountOf(priceWorth(charge, prices)));
      else sum.add(charge.requests, amountOf(priceCharge(charge, prices)));
    }
    return sum.finish();
  }
}
