import { isPaidByTool, payerOf } from "../../plans/names.ts";
import { priceCharge, priceWorth, type ChargeCost, type Missing } from "../charge-cost.ts";
import { NO_TOKENS, TOKEN_CLASSES, type PriceTerms } from "../charge.ts";
import { amountOf, type ChargeAmount } from "./cost-sum.ts";
import type { Money } from "../money.ts";
import type { PriceBook } from "../price-book.ts";
import { Rates } from "./rates.ts";

/** What a token costs, by its class. */
type TokenPrice = ChargeAmount;

const NOTHING: readonly Missing[] = [];

/**
 * What charges with the same terms cost. Amounts are exact, so that they are proportional to the numbers of tokens: prices are looked up
 * once for all rows of a report.
 */
export class UnitPrices {
  readonly payer: ReturnType<typeof payerOf>;
  /** True where a plan or a tool's own key pays: then amounts are what tokens would cost with a key of ours. */
  readonly isWorth: boolean;
  readonly #from: ChargeCost["from"];
  /** In the order of the classes. */
  readonly #tokens: readonly TokenPrice[];
  /** What has no price, however many tokens there are. */
  readonly #missing: readonly Missing[];
  readonly #certainty: PriceTerms["certainty"];
  readonly #amounts: Rates;
  readonly #saved: Rates;

  /** Calls of tools are not in it: their names are many. */
  constructor(terms: PriceTerms, prices: PriceBook) {
    this.payer = payerOf(terms.upstream);
    this.isWorth = isPaidByTool(terms.upstream);
    const price = this.isWorth ? priceWorth : priceCharge;
    const priceOf = (tokens: Partial<typeof NO_TOKENS>) =>
      amountOf(price({ terms, requests: 0, tokens: { ...NO_TOKENS, ...tokens }, tools: {} }, prices));
    const { from, missing, certainty } = priceOf({});
    this.#from = from;
    this.#missing = missing;
    this.#certainty = certainty;
    this.#tokens = TOKEN_CLASSES.map(([name]) => {
      const one = priceOf({ [name]: 1 });
      return { ...one, missing: one.missing.filter((what) => !includes(missing, what)) };
    });
    this.#amounts = new Rates(this.#tokens.map(({ amount }) => amount));
    this.#saved = new Rates(this.#tokens.map(({ saved }) => saved));
  }

  /** Returns what so many tokens of each class cost. @param first where the numbers begin */
  amountOf(counts: ArrayLike<number>, first = 0): Money {
    return this.#amounts.times(counts, first);
  }

  /** Returns what `priceCharge`, or where the tool itself pays `priceWorth`, says of a charge with so many tokens of each class. */
  costOf(counts: ArrayLike<number>, first = 0): ChargeAmount {
    let certainty = this.#certainty;
    let missing = NOTHING;
    for (let at = 0; at < this.#tokens.length; at += 1) {
      const price = this.#tokens[at];
      if (price === undefined || (counts[first + at] ?? 0) === 0) continue;
      if (price.certainty !== certainty) certainty = "lower_bound";
      if (price.missing.length > 0) missing = merge(missing, price.missing);
    }
    return {
      from: this.#from,
      amount: this.#amounts.times(counts, first),
      saved: this.#saved.times(counts, first),
      certainty,
      missing: merge(missing, this.#missing),
    };
  }
}

function merge(some: readonly Missing[], more: readonly Missing[]): readonly Missing[] {
  if (some.length === 0 || more.length === 0) return some.length === 0 ? more : some;
  return [...some, ...more.filter((one) => !includes(some, one))];
}

function includes(all: readonly Missing[], { model, what }: Missing): boolean {
  return all.some((one) => one.model === model && one.what === what);
}
