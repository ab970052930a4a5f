import { costOf, type Cost } from "../../../../core/price/cost.ts";
import type { PriceBook } from "../../../../core/price/price-book.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";

/** Keeps the dearest of many records, without keeping all of them. Those of which no cost is known are last. */
export class Dearest {
  readonly #count: number;
  readonly #prices: PriceBook;
  #kept: { record: UsageRecord; amount: bigint }[] = [];

  constructor(count: number, prices: PriceBook) {
    this.#count = count;
    this.#prices = prices;
  }

  add(record: UsageRecord): void {
    this.#kept.push({ record, amount: amountOf(costOf(record, this.#prices)) });
    if (this.#kept.length > 2 * this.#count + 1) this.#kept = this.#first();
  }

  /** Returns them, the dearest first, and the earlier one of two that cost the same. */
  list(): UsageRecord[] {
    return this.#first().map(({ record }) => record);
  }

  #first() {
    const sorted = this.#kept.toSorted(({ amount: one }, { amount: other }) =>
      one === other ? 0 : one < other ? 1 : -1,
    );
    return sorted.slice(0, this.#count);
  }
}

/** What is known of a cost. Nothing at all is less than nothing to pay. */
function amountOf(cost: Cost): bigint {
  if (cost.kind === "unknown") return -1n;
  return cost.kind === "priced" ? cost.amount : cost.atLeast;
}
