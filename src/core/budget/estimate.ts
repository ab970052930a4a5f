import type { RequestSize } from "./budget-request.ts";
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
}

/**
 * Returns what a request may spend by its size: all of its input, uncached, and all the output that it allows, at the prices of its
 * model, or the dearest ones of the upstream.
 */
export function boundRequest(
  { upstream, model, ...size }: Pick<RequestSize, "upstream" | "model" | "input" | "output">,
  prices: PriceBook | null,
  now: number,
): SizeBound {
  const input = Math.min(size.input, MAX_INPUT);
  const output = Math.min(size.output, MAX_OUTPUT);
  const terms = {
    upstream,
    model,
    ts: new Date(now).toISOString(),
    tier: null,
    speed: null,
    geo: null,
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
  return {
    // Any class of input may be the one that the prompt is.
    input: {
      usd: costOf({ input_uncached: input }),
      tokens: { input, cacheRead: input, cacheWrite: input, output: 0, all: input },
    },
    output: {
      usd: costOf({ output }),
      tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output, all: output },
    },
  };
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
