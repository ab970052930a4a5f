import { SANDBOX_UPSTREAM } from "../config/names.ts";
import type { CountedRequest } from "../ledger/spend.ts";
import { priceCharge, type Missing } from "../price/charge-cost.ts";
import { billOf, chargesOf, TOKEN_CLASSES, type Charge } from "../price/charge.ts";
import { decimalOf, priceOf, type Decimal, type Money } from "../price/money.ts";
import type { PriceBook } from "../price/price-book.ts";
import { isPricedByNumber, type RateClass } from "../price/rate-class.ts";
import { PICTURE, VIDEO_SECOND, type ExtraTokens } from "../usage/reading.ts";
import type { BudgetClass, BudgetTerms } from "./kinds.ts";

/** Tokens by the classes that a budget may count, and all of them. */
type TokenCounts = Record<BudgetClass | "all", number>;

/** What requests spent, in every unit that a budget may count. */
export interface Spent {
  /** What is known: what reports show. */
  known: { usd: Money; tokens: TokenCounts };
  /** What is assumed besides: for tokens without a price, and for usage that the service did not report. */
  assumed: { usd: Money; tokens: TokenCounts };
  /** The dollars that are assumed because a model has no price, by model. */
  unpriced: Map<string, Money>;
}

/** Returns the amount of what a budget counts, in its unit. */
export function amountOf({ limit }: Pick<BudgetTerms, "limit">, { usd, tokens }: Spent["known"]): bigint {
  return "usd" in limit ? usd : BigInt(tokens[limit.class ?? "all"]);
}

/** Returns what a request spent. Without prices its dollars are 0. Nothing in the sandbox, whose tokens are made up. */
export function spentBy({ record, source }: CountedRequest, prices: PriceBook | null): Spent {
  const spent = nothing();
  if (record.upstream === SANDBOX_UPSTREAM) return spent;
  const { known } = spent;
  if (source.tokens !== null) addTokens(known.tokens, source.tokens);
  for (const set of source.extra) if (set.billable === true) addTokens(known.tokens, set);
  known.usd = billOf(source) ?? 0n;
  const { own, extra } = chargesOf(source);
  for (const charge of own) addCharge(spent, charge, prices);
  for (const charge of extra) addCharge(spent, charge, prices);
  return spent;
}

/** Adds what charges cost, and the tokens of those that are not known, which are in no sum of tokens. */
export function addCharge(spent: Spent, charge: Charge, prices: PriceBook | null): void {
  if (charge.terms.certainty === "unknown") addTokens(spent.assumed.tokens, asUnwritten(charge.tokens));
  if (prices === null) return;
  const { known, assumed, isUnpriced } = costOf(charge, prices);
  spent.known.usd += known;
  spent.assumed.usd += assumed;
  const { model } = charge.terms;
  if (isUnpriced && model !== null) spent.unpriced.set(model, (spent.unpriced.get(model) ?? 0n) + assumed);
}

/** Nobody knows whether input that is estimated was written to a cache: that decides its price, and not what it is. */
function asUnwritten(tokens: Charge["tokens"]): Parameters<typeof addTokens>[1] {
  const { input_uncached, cache_read, output, ...writes } = tokens;
  const written = Object.values(writes).reduce((sum, count) => sum + count, 0);
  return { input_uncached: input_uncached + written, cache_read, cache_write: 0, output };
}

/** Returns what a charge costs at most, as far as that is known. */
export function costAtMost(charge: Charge, prices: PriceBook): Money {
  const { known, assumed } = costOf(charge, prices);
  return known + assumed;
}

/**
 * What a call of a service's tool costs whose price is not known: as much as OpenAI's smallest container for 20 minutes. Searches cost
 * less (https://developers.openai.com/api/docs/pricing, November 2026).
 */
const ASSUMED_CALL: Decimal = decimalOf(0.03);

/** The same of a picture and of a second of video: no less than any of OpenAI's and Google's costs (docs/budgets.md). */
const ASSUMED_PIECES: ReadonlyMap<string, Decimal> = new Map([
  [PICTURE, decimalOf(0.25)],
  [VIDEO_SECOND, decimalOf(0.75)],
]);

/**
 * Returns what a charge costs, and what is assumed besides. Tokens without a price cost what they do at the dearest prices of the models
 * most like theirs (`PriceBook.assumed`); tokens that are not known are estimated by the size of the request, and all that they cost is
 * assumed: then only the fees of calls are known. Calls without a price cost {@link ASSUMED_CALL}, pictures and films {@link ASSUMED_PIECES},
 * and they change nothing about the tokens.
 */
function costOf(charge: Charge, prices: PriceBook): { known: Money; assumed: Money; isUnpriced: boolean } {
  const { terms } = charge;
  const isUnknown = terms.certainty === "unknown";
  const { lines, missing } = priceCharge(
    isUnknown ? { ...charge, terms: { ...terms, certainty: "lower_bound" } } : charge,
    prices,
  );
  let [priced, fees] = [0n, 0n];
  for (const { class: name, amount } of lines) {
    priced += amount;
    if (isPricedByNumber(name)) fees += amount;
  }
  const { tokens, fees: unknownFees } = divideMissing(charge, missing);
  const atLeast = tokens.length === 0 ? 0n : dearestCost(charge, tokens, prices);
  const all = (atLeast > priced ? atLeast : priced) + unknownFees;
  if (isUnknown) return { known: fees, assumed: all - fees, isUnpriced: false };
  return { known: priced, assumed: all - priced, isUnpriced: all > priced };
}

/** Divides what has no price: `tokens` is what concerns them, `fees` what calls of tools cost. Of an unpriced model, no call has a price. */
function divideMissing({ tools }: Charge, missing: readonly Missing[]): { tokens: Missing[]; fees: Money } {
  const isOfModel = missing.some(({ what }) => what === "model");
  const tokens = missing.filter(({ what }) => !Object.hasOwn(tools, what));
  let fees = 0n;
  for (const [tool, count] of Object.entries(tools))
    if (isOfModel || missing.some(({ what }) => what === tool))
      fees += priceOf(count, ASSUMED_PIECES.get(tool) ?? ASSUMED_CALL, 0);
  return { tokens, fees };
}

/**
 * Returns what the tokens of a charge cost at the prices to assume for its model. With a tier, speed or region of unknown factor, it may
 * be dearer than any model of the family, so the dearest prices of the upstream count then.
 */
function dearestCost({ terms, tokens }: Charge, missing: readonly Missing[], prices: PriceBook): Money {
  const { upstream, model, least, most } = terms;
  const dearest = missing.every(isInFamily)
    ? prices.assumed(upstream, model, { least, most, at: Date.parse(terms.ts) })
    : prices.dearest(upstream);
  let amount = 0n;
  for (const [name, rateClass] of TOKEN_CLASSES) {
    const rate = dearest[rateClass] ?? dearest[SIMILAR[rateClass] ?? rateClass];
    if (tokens[name] > 0 && rate !== undefined) amount += priceOf(tokens[name], rate, 6);
  }
  return amount;
}

/** True where models of the same family have what is missing. */
function isInFamily({ what }: Missing): boolean {
  return what === "model" || what === "long context" || TOKEN_CLASSES.some(([name]) => name === what);
}

/** Classes in place of those without any price at an upstream. */
const SIMILAR: { readonly [Class in RateClass]?: RateClass } = {
  cacheRead: "input",
  cacheWrite: "input",
  cacheWrite1h: "cacheWrite",
  cacheWrite12h: "cacheWrite1h",
};

/** Adds a set of tokens. */
export function addTokens(
  counts: TokenCounts,
  set: Pick<ExtraTokens, "input_uncached" | "cache_read" | "cache_write" | "output">,
): void {
  counts.input += set.input_uncached;
  counts.cacheRead += set.cache_read;
  counts.cacheWrite += set.cache_write;
  counts.output += set.output;
  counts.all += set.input_uncached + set.cache_read + set.cache_write + set.output;
}

export function nothing(): Spent {
  return {
    known: { usd: 0n, tokens: noTokens() },
    assumed: { usd: 0n, tokens: noTokens() },
    unpriced: new Map(),
  };
}

function noTokens(): TokenCounts {
  return { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, all: 0 };
}
