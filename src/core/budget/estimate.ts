import type { RequestSize } from "./budget-request.ts";
import type { ReservedClass } from "../ledger/record.ts";
import type { Charge } from "../price/charge.ts";
import type { PriceBook } from "../price/price-book.ts";
import { costAtMost, type Spent } from "./spent.ts";

/** The largest prompt that any model takes: a larger body has something else in it. */
const MAX_INPUT = 2_000_000;
/** More than any model generates. */
const MAX_OUTPUT = 1_000_000;

/** What a request may spend at most, in every unit that a budget may count: for its input, and for its output. */
export interface SizeBound {
  input: Spent["known"];
  output: Spent["known"];
  /** The dearest class that the input may be. */
  inputClass: ReservedClass;
}

/**
 * Returns what a request may spend by its size: all of its input, as the dearest class that it may be, and all the output that it
 * allows, at the prices of its model, or the dearest ones of the upstream.
 */
export function boundRequest(
  { upstream, model, tier, speed, geo, ...size }: Omit<RequestSize, "previous" | "reasons">,
  prices: PriceBook | null,
  now: number,
): SizeBound {
  const input = Math.min(size.input, MAX_INPUT);
  const output = Math.min(size.output, MAX_OUTPUT);
  const terms = {
    upstream,
    model,
    ts: new Date(now).toISOString(),
    tier,
    speed,
    geo,
    least: input,
    most: input,
    isSum: false,
    isOwn: true,
    certainty: "exact",
    media: [],
  } as const;
  const costOf = (tokens: Partial<Charge["tokens"]>) =>
    prices === null
      ? 0n
      : costAtMost({ terms, requests: 1, tokens: { ...NO_TOKENS, ...tokens }, tools: {} }, prices);
  let usd = costOf({ input_uncached: input });
  let inputClass: ReservedClass = "input_uncached";
  for (const written of prices === null
    ? []
    : writtenClasses(prices, upstream, model, size.cachesLong, now)) {
    const cost = costOf({ [written]: input });
    if (cost > usd) [usd, inputClass] = [cost, written];
  }
  return {
    inputClass,
    // Any class of input may be the one that the prompt is.
    input: {
      usd,
      tokens: { input, cacheRead: input, cacheWrite: input, output: 0, all: input },
    },
    output: {
      usd: costOf({ output }),
      tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output, all: output },
    },
  };
}

const USUAL = ["cache_write_5m"] as const;
const LASTING = ["cache_write_5m", "cache_write_1h", "cache_write_12h"] as const;

/**
 * Returns the classes of cache writes that the input may be. Services write to a cache unasked, too, so the usual class counts wherever it
 * may have a price.
 */
function writtenClasses(
  prices: PriceBook,
  upstream: string,
  model: string | null,
  cachesLong: boolean,
  now: number,
): readonly ReservedClass[] {
  if (cachesLong) return LASTING;
  const found = model === null ? null : prices.find(upstream, model, now);
  if (found === "free") return [];
  return found === null || found.classes.cacheWrite !== undefined ? USUAL : [];
}

const NO_TOKENS: Charge["tokens"] = {
  input_uncached: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_30m: 0,
  cache_write_1h: 0,
  cache_write_12h: 0,
  cache_write_ttl_unknown: 0,
  output: 0,
};
