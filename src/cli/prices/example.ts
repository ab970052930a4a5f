import type { PricedRecord } from "../../core/price/cost.ts";
import { PICTURE, VIDEO_SECOND } from "../../core/usage/reading.ts";
import { createReading } from "../../core/usage/usage-format.ts";
import { toTokens, type CacheLifetimes } from "../../core/usage/tokens.ts";
import type { FoundPrices } from "../../core/price/price-book.ts";

/**
 * Returns the record of an example: a step of a coding assistant, with as many tokens of each class as the model has a price for.
 * @param at milliseconds since 1970
 */
export function exampleRecord(
  { upstream, model, at }: { upstream: string; model: string; at: number },
  { classes }: FoundPrices,
): PricedRecord {
  const priced = (rateClass: keyof typeof classes, count: number) =>
    classes[rateClass] === undefined ? 0 : count;
  const m5 = priced("cacheWrite", 3000);
  const h1 = priced("cacheWrite1h", 2000);
  const lifetimes: CacheLifetimes = { m5, h1 };
  const counts = {
    uncached: priced("input", 1000),
    read: priced("cacheRead", 40_000),
    write: m5 + h1,
    lifetimes,
    output: priced("output", 800),
    reasoning: null,
  };
  return {
    ...createReading("completed", "final"),
    spend: "count",
    model,
    model_requested: model,
    alias: null,
    tokens: toTokens(counts, new Set()),
    server_tools: {
      web_search: priced("webSearch", 2),
      [PICTURE]: priced("picture", 1),
      [VIDEO_SECOND]: priced("videoSecond", 8),
    },
    ts: new Date(at).toISOString(),
    upstream,
    route: "/messages",
    method: "POST",
    status: 200,
  };
}
