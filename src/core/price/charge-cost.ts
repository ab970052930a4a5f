import { TOKEN_CLASSES, type Charge, type PriceTerms, type TokenClass } from "./charge.ts";
import { findConditions, findFactors, type Condition, type Factor } from "./modifiers.ts";
import { priceOf, type Decimal, type Money } from "./money.ts";
import type { FoundPrices, PriceBook } from "./price-book.ts";
import {
  isPricedByNumber,
  MEDIA,
  PRICED_BY_NUMBER,
  type Medium,
  type PricedByNumber,
  type RateClass,
} from "./rate-class.ts";
import { rateFor, type Rate } from "./rates.ts";

/** What a line of a reckoning is for, in the ledger's terms: tokens of a class, or what is priced by number. */
type LineClass = TokenClass | PricedByNumber;

/** One line of a reckoning: `amount = count * rate * factors / per`. */
export interface CostLine {
  class: LineClass;
  model: string;
  /** Whose price it is: `configuration`, or a provider of the price table. */
  source: string;
  /** Tokens, calls, pictures, or seconds. */
  count: number;
  /** Dollars for `per` of them. */
  rate: Decimal;
  per: 1_000_000 | 1000 | 1;
  /** True for a long-context price. */
  isLong: boolean;
  factors: readonly Factor[];
  amount: Money;
}

/** Something that was charged for and has no known price. */
export interface Missing {
  /** null when the record does not name it. */
  model: string | null;
  /** `model` when the model has no price at all; else a class, a tool or a modifier, such as `cache_write_12h` or `tier scale`. */
  what: string;
}

/** What a charge costs. With something missing, the lines are only a part of it. */
export interface ChargeCost {
  from: FoundPrices["from"] | "free";
  lines: readonly CostLine[];
  missing: readonly Missing[];
  /** `lower_bound` also when cache writes of unknown lifetime count as the cheapest ones. */
  certainty: PriceTerms["certainty"];
  /** What the same prompt would have cost without a cache, less what it cost. Negative when writing cost more than reading saved. */
  saved: Money;
}

const FREE: ChargeCost = { from: "free", lines: [], missing: [], certainty: "exact", saved: 0n };

/** Returns what a charge costs, by the prices at its time. */
export function priceCharge(charge: Charge, prices: PriceBook): ChargeCost {
  const { upstream, model, ts } = charge.terms;
  return priceAt(charge, model === null ? null : prices.find(upstream, model, Date.parse(ts)));
}

/** Returns what a charge that the tool itself paid would have cost with a key of ours, by the prices at its time. */
export function priceWorth(charge: Charge, prices: PriceBook): ChargeCost {
  const { upstream, model, ts } = charge.terms;
  return priceAt(charge, model === null ? null : prices.findWorth(upstream, model, Date.parse(ts)));
}

function priceAt(charge: Charge, found: ReturnType<PriceBook["find"]>): ChargeCost {
  const { model, certainty } = charge.terms;
  if (found === "free") return FREE;
  // Of what is not known to have been used, calls that are proved have a price.
  if (certainty === "unknown" && !hasCalls(charge)) return { ...FREE, certainty };
  if (found === null || model === null) return { ...FREE, certainty, missing: [{ model, what: "model" }] };
  return new Reckoning(charge, model, found).finish();
}

function hasCalls({ tools }: Charge): boolean {
  return Object.values(tools).some((calls) => calls > 0);
}

/** Adds up the lines of one charge. */
class Reckoning {
  readonly #charge: Charge;
  readonly #model: string;
  readonly #found: FoundPrices;
  readonly #conditions: readonly Condition[];
  readonly #lines: CostLine[] = [];
  readonly #missing: Missing[] = [];
  /** What all of the tokens are; null for text. */
  readonly #medium: Medium | null;
  #isLowerBound = false;
  #saved = 0n;

  constructor(charge: Charge, model: string, found: FoundPrices) {
    this.#charge = charge;
    this.#model = model;
    this.#found = found;
    const { tier, speed, geo, media } = charge.terms;
    this.#medium = MEDIA.find((medium) => media.includes(medium)) ?? null;
    this.#conditions = findConditions(tier, speed, [geo, found.region]);
  }

  finish(): ChargeCost {
    const { isOwn, media, certainty } = this.#charge.terms;
    const isKnown = certainty !== "unknown";
    if (isKnown) for (const [name, rateClass] of TOKEN_CLASSES) this.#addTokens(name, rateClass);
    if (isOwn) this.#addTools();
    if (isOwn && isKnown) {
      if (this.#found.from === "table" && this.#medium === null) media.forEach((what) => this.#miss(what));
      this.#found.others.forEach((what) => this.#miss(what));
    }
    const { from } = this.#found;
    return {
      from,
      lines: this.#lines,
      missing: this.#missing,
      certainty: this.#isLowerBound ? "lower_bound" : certainty,
      saved: this.#saved,
    };
  }

  #addTokens(name: TokenClass, rateClass: (typeof TOKEN_CLASSES)[number][1]): void {
    const count = this.#charge.tokens[name];
    if (count === 0) return;
    const found = this.#found;
    const rate = this.#rate(rateClass);
    if (rate === undefined)
      return this.#miss(
        this.#medium === null ? name : `${rateClass === "output" ? "output" : "input"}_${this.#medium}`,
      );
    const { price, isLong, isUnsure } = this.#rateFor(rate);
    if (isUnsure) this.#miss("long context");
    const { factors, unknown } = findFactors(this.#conditions, found, rateClass, isLong);
    for (const what of unknown) this.#miss(what);
    if (unknown.length > 0) return;
    if (name === "cache_write_ttl_unknown" && hasDearerWrites(found)) this.#isLowerBound = true;
    const amount = this.#addLine(
      { class: name, count, rate: price, per: 1_000_000, isLong: isLong && !isUnsure },
      factors,
    );
    if (rateClass !== "input" && rateClass !== "output") this.#compareUncached(count, amount);
  }

  /** Adds what the input would have cost without a cache, less what it cost. Nothing where that has no price. */
  #compareUncached(count: number, amount: Money): void {
    const rate = this.#rate("input");
    if (rate === undefined) return;
    const { price, isLong } = this.#rateFor(rate);
    const { factors, unknown } = findFactors(this.#conditions, this.#found, "input", isLong);
    if (unknown.length > 0) return;
    const values = this.#discount(factors).map(({ value }) => value);
    this.#saved += priceOf(count, price, 6, values) - amount;
  }

  /**
   * Returns the price of a class. For a medium it is its own; input without one costs the same as text, as Google's list says. Output of a
   * medium has no price unless one is listed, or the model speaks: then all of its output does.
   */
  #rate(rateClass: RateClass): Rate | undefined {
    const { classes, from, media, model } = this.#found;
    const medium = this.#medium;
    if (medium === null || from === "configuration") return classes[rateClass];
    const own = media[medium] ?? {};
    if (rateClass === "output")
      return own.output ?? (medium === "audio" && SPEAKS.test(model ?? "") ? classes.output : undefined);
    if (rateClass === "cacheRead")
      return own.cacheRead ?? (own.input === undefined ? classes.cacheRead : undefined);
    return rateClass === "input" ? (own.input ?? classes.input) : classes[rateClass];
  }

  /**
   * Returns the price by the size of the prompt. `isUnsure`: it is the least of several, because the tokens are those of prompts of
   * several sizes, which are smaller than their sum, or were added up when prices had other limits.
   */
  #rateFor(rate: Rate): { price: Decimal; isLong: boolean; isUnsure: boolean } {
    const { least, most, isSum } = this.#charge.terms;
    const longest = rateFor(rate, most);
    const shortest = isSum ? { price: rate.base, isLong: false } : rateFor(rate, least);
    const isUnsure = isSum ? longest.isLong : longest.price !== shortest.price;
    return { price: shortest.price, isLong: longest.isLong, isUnsure };
  }

  #addTools(): void {
    for (const [tool, calls] of Object.entries(this.#charge.tools)) {
      if (calls === 0 || isFreeTool(tool, this.#found)) continue;
      const rate = isPricedByNumber(tool) ? this.#found.classes[PRICED_BY_NUMBER[tool].rateClass] : undefined;
      if (rate === undefined || !isPricedByNumber(tool)) this.#miss(tool);
      else {
        const { per } = PRICED_BY_NUMBER[tool];
        this.#addLine({ class: tool, count: calls, rate: rate.base, per, isLong: false }, []);
      }
    }
  }

  #addLine(
    line: Pick<CostLine, "class" | "count" | "rate" | "per" | "isLong">,
    modifiers: readonly Factor[],
  ): Money {
    const { from, provider } = this.#found;
    const factors = this.#discount(modifiers);
    const values = factors.map(({ value }) => value);
    const amount = priceOf(line.count, line.rate, PLACES[line.per], values);
    const source = from === "table" ? (provider ?? from) : from;
    this.#lines.push({ ...line, model: this.#model, source, factors, amount });
    return amount;
  }

  #discount(factors: readonly Factor[]): readonly Factor[] {
    const { discounted } = this.#found;
    return discounted === null ? factors : [...factors, { what: "discount", value: discounted }];
  }

  #miss(what: string): void {
    if (!this.#missing.some((one) => one.what === what)) this.#missing.push({ model: this.#model, what });
  }
}

/** The decimal places of what a price is for. */
const PLACES: Readonly<Record<CostLine["per"], number>> = { 1_000_000: 6, 1000: 3, 1: 0 };

/** Models whose only output is speech (https://ai.google.dev/gemini-api/docs/pricing). */
const SPEAKS = /-tts(?:-|$)/;

/** True when entries that live longer cost more to write, so that the usual price is the least. */
function hasDearerWrites({ classes }: FoundPrices): boolean {
  return classes.cacheWrite1h !== undefined || classes.cacheWrite12h !== undefined;
}

/** Anthropic charges for the tokens of a fetched page only (https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/web-fetch-tool). */
function isFreeTool(tool: string, { provider }: FoundPrices): boolean {
  return tool === "web_fetch" && provider === "anthropic";
}
