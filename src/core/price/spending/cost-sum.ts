import type { ChargeCost, Missing } from "../charge-cost.ts";
import type { Money } from "../money.ts";

/** What many requests cost. */
export interface SpendingCost {
  /** The sum of all that has a price, and of all bills. */
  amount: Money;
  /** The part of it that services said they charged. */
  billed: Money;
  /** The part of it that services of plans charge as use beyond them. */
  extra: Money;
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
  worth: Worth | null;
  /** The same of what tools paid with keys of their own. */
  ownWorth: Worth | null;
}

/** What was paid otherwise than with a key of ours, at the prices with one. */
interface Worth {
  amount: Money;
  isExact: boolean;
}

/** What a charge costs, without its lines. */
export interface ChargeAmount extends Pick<ChargeCost, "from" | "missing" | "certainty" | "saved"> {
  amount: Money;
}

/** Returns what a charge costs as one amount. */
export function amountOf(cost: ChargeCost): ChargeAmount {
  return { ...cost, amount: cost.lines.reduce((sum, { amount }) => sum + amount, 0n) };
}

/** Adds up what charges cost. */
export class CostSum {
  readonly #billed: Money;
  /** null while everything has a price, as in most rows of a long report. */
  #unpriced: Map<string, Missing & { requests: number }> | null = null;
  #amount: Money;
  #own = 0n;
  #extra = 0n;
  #saved = 0n;
  #unknown = 0;
  #isExact: boolean;
  #worth: Worth | null = null;
  #ownWorth: Worth | null = null;

  /**
   * @param billed what services said they charged
   * @param isWhole false where there are charges that are not added
   */
  constructor(billed: Money, isWhole: boolean) {
    this.#billed = billed;
    this.#amount = billed;
    this.#isExact = isWhole;
  }

  /** Adds what charges of so many requests cost. */
  add(requests: number, { amount, from, saved, certainty, missing }: ChargeAmount): void {
    this.#amount += amount;
    if (from === "configuration") this.#own += amount;
    this.#saved += saved;
    if (certainty === "unknown") this.#unknown += requests;
    if (certainty !== "exact" || missing.length > 0) this.#isExact = false;
    for (const one of missing) {
      const key = JSON.stringify([one.model, one.what]);
      this.#unpriced ??= new Map();
      const known = this.#unpriced.get(key)?.requests ?? 0;
      this.#unpriced.set(key, { ...one, requests: known + requests });
    }
  }

  /** The same for use beyond a plan. */
  addExtra(requests: number, cost: ChargeAmount): void {
    this.#extra += cost.amount;
    this.add(requests, cost);
  }

  /** Adds what a charge that a plan paid would have cost without it. */
  addWorth(cost: ChargeAmount): void {
    this.#worth = addTo(this.#worth, cost);
  }

  /** Adds what a charge that a tool paid with a key of its own would have cost with one of ours. */
  addOwnWorth(cost: ChargeAmount): void {
    this.#ownWorth = addTo(this.#ownWorth, cost);
  }

  /** Returns what all of them cost. */
  finish(): SpendingCost {
    return {
      amount: this.#amount,
      billed: this.#billed,
      extra: this.#extra,
      own: this.#own,
      isExact: this.#isExact,
      unpriced: this.#unpriced === null ? [] : [...this.#unpriced.values()],
      unknown: this.#unknown,
      saved: this.#saved,
      worth: this.#worth,
      ownWorth: this.#ownWorth,
    };
  }
}

function addTo(sum: Worth | null, { amount, certainty, missing }: ChargeAmount): Worth {
  const isExact = certainty === "exact" && missing.length === 0;
  const { amount: known, isExact: isKnown } = sum ?? { amount: 0n, isExact: true };
  return { amount: known + amount, isExact: isExact && isKnown };
}
