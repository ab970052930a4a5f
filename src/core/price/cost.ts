import { SANDBOX_UPSTREAM } from "../config/names.ts";
import type { UsageRecord } from "../ledger/record.ts";
import type { MeterReading } from "../usage/reading.ts";
import { hasSpentNothing } from "../ledger/spend.ts";
import { findConditions, findFactors, type Condition, type Factor } from "./modifiers.ts";
import { parseMoney, priceOf, type Decimal, type Money } from "./money.ts";
import { findMedia, partsOf, type Part, type TokenSet } from "./parts.ts";
import type { FoundPrices, PriceBook } from "./price-book.ts";
import type { RateClass } from "./price-table.ts";
import { rateFor } from "./rates.ts";

/** What of a record decides what it cost. */
export type PricedRecord = MeterReading &
  Pick<UsageRecord, "ts" | "upstream" | "route" | "method" | "status" | "model_requested" | "alias">;

/** What a line of a reckoning is for: tokens of a class in the ledger's terms, or calls of a tool of the service. */
type LineClass = (typeof TOKEN_CLASSES)[number][0] | "web_search";

/** One line of a reckoning: `amount = count * rate * factors / per`. */
export interface CostLine {
  class: LineClass;
  model: string;
  /** Whose price it is: `configuration`, or a provider of the price table. */
  source: string;
  /** Tokens, or calls. */
  count: number;
  /** Dollars for `per` of them. */
  rate: Decimal;
  per: 1_000_000 | 1000;
  factors: readonly Factor[];
  amount: Money;
}

/** Something that was charged for and has no known price. */
interface Missing {
  /** null when the record does not name it. */
  model: string | null;
  /** `model` when the model has no price at all; else a class, a tool or a modifier, such as `cache_write_12h` or `tier scale`. */
  what: string;
}

/**
 * What a request cost.
 * - `priced`: `amount` is the sum of the lines, or what the service says that it charged (`billed`, no lines). `isLowerBound`: the
 *   usage is partial or too large for a record, or cache writes of unknown lifetime count as the cheapest ones.
 * - `unpriced`: something has no price. `atLeast` is the sum of the rest. Never treat it as the cost.
 * - `unknown`: the service reported no usage, or has not yet.
 */
export type Cost =
  | { kind: "priced"; from: CostOrigin; amount: Money; lines: readonly CostLine[]; isLowerBound: boolean }
  | { kind: "unpriced"; missing: readonly Missing[]; atLeast: Money; lines: readonly CostLine[] }
  | { kind: "unknown" };

/**
 * Where an amount comes from. `free`: the sandbox, an upstream that takes no key, or a request that cannot have spent anything.
 * Of a request with several models, that of its own one.
 */
type CostOrigin = "billed" | "configuration" | "table" | "free";

/** The classes of a record's tokens, and the prices that apply to them. */
const TOKEN_CLASSES = [
  ["input_uncached", "input"],
  ["cache_read", "cacheRead"],
  ["cache_write_5m", "cacheWrite"],
  // The usual lifetime of OpenAI's entries, as 5 minutes is that of Anthropic's. Neither has both.
  ["cache_write_30m", "cacheWrite"],
  ["cache_write_1h", "cacheWrite1h"],
  ["cache_write_12h", "cacheWrite12h"],
  ["cache_write_ttl_unknown", "cacheWrite"],
  ["output", "output"],
] as const satisfies readonly (readonly [keyof TokenSet, RateClass])[];

const FREE: Cost = { kind: "priced", from: "free", amount: 0n, lines: [], isLowerBound: false };

/**
 * Returns what a request cost, by its record. Every record can be asked: that a response which was fetched twice counts once is
 * left to the caller (ledger/spend.ts), who asks with the record that has the usage.
 *
 * A long-context price applies to a whole prompt, by its own size, cached input included. What has no price, or is modified by
 * something whose factor is not known for certain, is unpriced: nothing is guessed (docs/prices.md).
 */
export function costOf(record: PricedRecord, prices: PriceBook): Cost {
  if (record.upstream === SANDBOX_UPSTREAM || hasSpentNothing(record)) return FREE;
  const billed = record.billed_usd === null ? null : parseMoney(record.billed_usd);
  if (billed !== null)
    return { kind: "priced", from: "billed", amount: billed, lines: [], isLowerBound: false };
  if (record.tokens === null) return { kind: "unknown" };
  return new Reckoning(record, prices).finish();
}

/** Adds up the lines of one request. */
class Reckoning {
  readonly #record: PricedRecord;
  readonly #prices: PriceBook;
  readonly #at: number;
  readonly #lines: CostLine[] = [];
  readonly #missing: Missing[] = [];
  #from: CostOrigin = "free";
  #isLowerBound: boolean;

  constructor(record: PricedRecord, prices: PriceBook) {
    this.#record = record;
    this.#prices = prices;
    this.#at = Date.parse(record.ts);
    this.#isLowerBound = record.usage !== "final" || record.flags.includes("extra_cut_short");
  }

  finish(): Cost {
    const { own, extra } = partsOf(this.#record);
    this.#addOwn(own);
    for (const part of extra) this.#addPart(part, this.#find(part.model));
    const amount = this.#lines.reduce((sum, line) => sum + line.amount, 0n);
    const lines = this.#lines;
    if (this.#missing.length > 0) return { kind: "unpriced", missing: this.#missing, atLeast: amount, lines };
    return { kind: "priced", from: this.#from, amount, lines, isLowerBound: this.#isLowerBound };
  }

  /** Without tiers the parts need not be told apart. */
  #addOwn(parts: readonly Part[]): void {
    const { tokens, raw_usage: rawUsage } = this.#record;
    const [first] = parts;
    if (first === undefined || tokens === null) return;
    const found = this.#find(first.model);
    if (found !== null && found !== "free") this.#from = found.from;
    const isOne = found !== null && found !== "free" && !found.hasTiers;
    if (isOne) this.#addPart({ ...first, tokens }, found);
    else for (const part of parts) this.#addPart(part, found);
    if (found === null || found === "free") return;
    this.#addTools(first.model ?? "", found);
    if (found.from === "table") for (const what of findMedia(rawUsage)) this.#miss(first.model, what);
    for (const what of found.others) this.#miss(first.model, what);
  }

  #find(model: string | null): FoundPrices | "free" | null {
    return model === null ? null : this.#prices.find(this.#record.upstream, model, this.#at);
  }

  #addPart({ model, tokens, isSum }: Part, found: FoundPrices | "free" | null): void {
    if (found === "free") return;
    if (found === null || model === null) return this.#miss(model, "model");
    const input = tokens.input_uncached + tokens.cache_read + tokens.cache_write;
    const conditions = this.#conditions(found);
    for (const [name, rateClass] of TOKEN_CLASSES) {
      const count = tokens[name];
      const rate = found.classes[rateClass];
      if (count === 0) continue;
      if (rate === undefined) {
        this.#miss(model, name);
        continue;
      }
      const { price, isLong } = rateFor(rate, input);
      // The sum of several prompts is longer than each of them.
      if (isLong && isSum) this.#miss(model, "long context");
      const { factors, unknown } = findFactors(conditions, found, rateClass, isLong);
      for (const what of unknown) this.#miss(model, what);
      if (unknown.length > 0) continue;
      if (name === "cache_write_ttl_unknown" && hasDearerWrites(found)) this.#isLowerBound = true;
      this.#addLine(name, model, count, isLong && isSum ? rate.base : price, 1_000_000, factors, found);
    }
  }

  #conditions({ region }: FoundPrices): Condition[] {
    const { service_tier: tier, speed, inference_geo: geo } = this.#record;
    return findConditions(tier, speed, [geo, region]);
  }

  #addTools(model: string, found: FoundPrices): void {
    for (const [tool, calls] of Object.entries(this.#record.server_tools)) {
      const rate = tool === "web_search" ? found.classes.webSearch : undefined;
      if (calls === 0 || isFreeTool(tool, found)) continue;
      if (rate === undefined) this.#miss(model, tool);
      else this.#addLine("web_search", model, calls, rate.base, 1000, [], found);
    }
  }

  #addLine(
    name: LineClass,
    model: string,
    count: number,
    rate: Decimal,
    per: CostLine["per"],
    modifiers: readonly Factor[],
    { discounted, from, provider }: FoundPrices,
  ): void {
    const factors = discounted === null ? modifiers : [...modifiers, { what: "discount", value: discounted }];
    const values = factors.map(({ value }) => value);
    const amount = priceOf(count, rate, per === 1000 ? 3 : 6, values);
    const source = from === "table" ? (provider ?? from) : from;
    this.#lines.push({ class: name, model, source, count, rate, per, factors, amount });
  }

  #miss(model: string | null, what: string): void {
    if (!this.#missing.some((one) => one.model === model && one.what === what))
      this.#missing.push({ model, what });
  }
}

/** True when entries that live longer cost more to write, so that the usual price is the least. */
function hasDearerWrites({ classes }: FoundPrices): boolean {
  return classes.cacheWrite1h !== undefined || classes.cacheWrite12h !== undefined;
}

/** Anthropic charges for the tokens of a fetched page only (https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/web-fetch-tool). */
function isFreeTool(tool: string, { provider }: FoundPrices): boolean {
  return tool === "web_fetch" && provider === "anthropic";
}
