// Prices that were worked out by hand, from the price lists that the comments repeat: dollars per million tokens, in the order
// input / cache read / cache write (5 minutes) / write (1 hour) / output. Each amount is exact to the last digit.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { Tokens } from "../../../src/core/usage/reading.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { costOf, describeCost, priceBook } from "../../helpers/ledger/prices.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const PRICES = priceBook(
  {
    anthropic: { baseUrl: "https://api.anthropic.com/v1" },
    openai: { baseUrl: "https://api.openai.com/v1" },
    europe: { baseUrl: "https://eu.api.openai.com/v1" },
    deepseek: { baseUrl: "https://api.deepseek.com/v1" },
    perplexity: { baseUrl: "https://api.perplexity.ai/v1" },
    openrouter: { baseUrl: "https://openrouter.ai/api/v1" },
    bedrock: { baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1" },
    vertex: { baseUrl: "https://us-east5-aiplatform.googleapis.com/v1" },
    gateway: { baseUrl: "https://gateway.example/v1" },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none", prices: { "rented-*": { input: 1 } } },
    contract: { baseUrl: "https://api.anthropic.com/v1", discount: 12.5 },
    reseller: {
      baseUrl: "https://reseller.example/v1",
      discount: 10,
      prices: { "claude-sonnet-5": { input: 1, output: 4, webSearch: 5 } },
    },
  },
  {
    "house-*": [
      { input: 3, output: 15 },
      { from: "2026-11-01", input: 2, cacheRead: 0.2, cacheWrite: 2.5, cacheWrite1h: 4, output: 10 },
    ],
    "house-late": { from: "2026-11-01", input: 99 },
    "house-new": { from: "2026-11-01", input: 7 },
    "new-*": { from: "2026-11-01", input: 7 },
    dust: { input: 0.0000005 },
    tiered: { input: 1, tiers: [{ above: 7, input: 2 }] },
    "rented-*": { input: 50 },
    "claude-sonnet-5": { from: "2030-01-01", input: 100, output: 100 },
  },
);

type Split = Partial<Record<keyof Tokens, number>>;

/** Counts by class, all writes of which are for 5 minutes unless it says otherwise. */
function count(given: Split): Tokens {
  const lifetimes = [
    "cache_write_1h",
    "cache_write_30m",
    "cache_write_12h",
    "cache_write_ttl_unknown",
  ] as const;
  const others = lifetimes.reduce((sum, name) => sum + (given[name] ?? 0), 0);
  const cache_write = (given.cache_write_5m ?? 0) + others;
  return { ...tokens({ ...given, cache_write }), ...given, cache_write_5m: given.cache_write_5m ?? 0 };
}

/** A record of a Messages request. */
function claude(model: string, given: Split, changes: Partial<UsageRecord> = {}): UsageRecord {
  return usageRecord({
    upstream: "anthropic",
    route: "/messages",
    model,
    tokens: count(given),
    ts: "2026-11-20T12:00:00.000Z",
    ...changes,
  });
}

function gpt(model: string, given: Split, changes: Partial<UsageRecord> = {}): UsageRecord {
  return claude(model, given, { upstream: "openai", route: "/responses", ...changes });
}

/** What the Messages API says of one sampling. */
const sample = (input: number, output: number, more: object = {}) => ({
  type: "message",
  input_tokens: input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: output,
  ...more,
});

const loop = (iterations: object[]): Partial<UsageRecord> => ({
  server_tools: { web_search: 0, code_execution: 0 },
  raw_usage: { iterations },
});

const M = 1_000_000;

const CASES: [what: string, record: UsageRecord, cost: string][] = [
  // Classes.
  // 300 000 * 2 = 0.6; 100 000 * 10 = 1
  [
    "uncached input and output",
    claude("claude-sonnet-5", { input_uncached: 300_000, output: 100_000 }),
    "1.6",
  ],
  // One token: 2 / 10^6
  ["a single token", claude("claude-sonnet-5", { input_uncached: 1 }), "0.000002"],
  // Of 1000 tokens of output 900 are reasoning, which is part of it: 1000 * 10
  [
    "reasoning, which is inside the output",
    claude("claude-sonnet-5", {}, { tokens: tokens({ output: 1000, reasoning: 900 }) }),
    "0.01",
  ],
  // 100 000 * 0.2
  ["a cache read", claude("claude-sonnet-5", { cache_read: 100_000 }), "0.02"],
  // Opus 5.5 reads at 0.05 of its input: 100 000 * 0.2
  [
    "a cache read of a model with a rate of its own",
    claude("claude-opus-5-5", { cache_read: 100_000 }),
    "0.02",
  ],
  // 10 000 * 3.75
  ["a cache write for 5 minutes", claude("claude-sonnet-4-5", { cache_write_5m: 10_000 }), "0.0375"],
  // 10 000 * 6
  ["a cache write for an hour", claude("claude-sonnet-4-5", { cache_write_1h: 10_000 }), "0.06"],
  // 10 000 * 3.75, and perhaps 10 000 * 6
  [
    "a cache write of unknown lifetime",
    claude("claude-sonnet-4-5", { cache_write_ttl_unknown: 10_000 }),
    "≥ 0.0375",
  ],
  // gpt-5.6-sol since 2026-08-21: 4 / 0.4 / 5 / - / 20. 8 * 4 = 0.000032; 4012 * 5 = 0.02006
  [
    "a cache write for 30 minutes",
    gpt("gpt-5.6-sol", { input_uncached: 8, cache_write_30m: 4012 }),
    "0.020092",
  ],
  // OpenAI has one price for writes: 4012 * 5
  [
    "a write of unknown lifetime where there is one price",
    gpt("gpt-5.6-sol", { cache_write_ttl_unknown: 4012 }),
    "0.02006",
  ],
  // 8 * 4
  [
    "a cache write for 12 hours, which has no price",
    gpt("gpt-5.6-sol", { input_uncached: 8, cache_write_12h: 4012 }),
    "unpriced gpt-5.6-sol: cache_write_12h; at least 0.000032",
  ],
  // gpt-5.5 has no price for writes: 8 * 5
  [
    "a class without a price",
    gpt("gpt-5.5", { input_uncached: 8, cache_write_30m: 4012 }),
    "unpriced gpt-5.5: cache_write_30m; at least 0.00004",
  ],

  // Long context: the whole request, by its own input. claude-sonnet-4-5 above 200 000: 6 / 0.6 / 7.5 / 12 / 22.5
  // 200 000 * 3
  ["200 000 tokens of input", claude("claude-sonnet-4-5", { input_uncached: 200_000 }), "0.6"],
  // 200 001 * 6
  ["200 001 tokens of input", claude("claude-sonnet-4-5", { input_uncached: 200_001 }), "1.200006"],
  // 1 * 6 + 199 999 * 0.6 + 1 * 7.5 = 6 + 119 999.4 + 7.5 = 120 012.9
  [
    "200 001 tokens of which one is uncached",
    claude("claude-sonnet-4-5", { input_uncached: 1, cache_read: 199_999, cache_write_5m: 1 }),
    "0.1200129",
  ],
  // 50 000 * 6 = 0.3; 200 000 * 0.6 = 0.12
  [
    "50 000 uncached and 200 000 cached",
    claude("claude-sonnet-4-5", { input_uncached: 50_000, cache_read: 200_000 }),
    "0.42",
  ],
  // 200 001 * 6 = 1.200006; 1000 * 22.5 = 0.0225
  [
    "the output of a long prompt",
    claude("claude-sonnet-4-5", { input_uncached: 200_001, output: 1000 }),
    "1.222506",
  ],
  // The input decides, not the output: 10 * 3 + 300 000 * 15
  ["a long output", claude("claude-sonnet-4-5", { input_uncached: 10, output: 300_000 }), "4.50003"],
  // gpt-5.5: 5 / 0.5 / - / - / 30, from 272 000 on 10 / 1 / - / - / 45. 271 999 * 5
  ["271 999 tokens at OpenAI", gpt("gpt-5.5", { input_uncached: 271_999 }), "1.359995"],
  // 272 000 * 10
  ["272 000 tokens at OpenAI", gpt("gpt-5.5", { input_uncached: 272_000 }), "2.72"],
  // 100 000 * 10 = 1; 200 000 * 1 = 0.2; 1000 * 45 = 0.045
  [
    "300 000 tokens of which 200 000 are cached",
    gpt("gpt-5.5", { input_uncached: 100_000, cache_read: 200_000, output: 1000 }),
    "1.245",
  ],
  // gpt-6-sol: 2, above 272 000 4. 272 000 * 2
  [
    "272 000 tokens of a model whose tier starts above",
    gpt("gpt-6-sol", { input_uncached: 272_000 }),
    "0.544",
  ],
  // 272 001 * 4
  ["272 001 tokens of that model", gpt("gpt-6-sol", { input_uncached: 272_001 }), "1.088004"],
  // claude-opus-4-6 was tiered (5, then 10) until 2026-03-13. 200 001 * 10
  [
    "the last moment of a price",
    claude("claude-opus-4-6", { input_uncached: 200_001 }, { ts: "2026-03-12T23:59:59.999Z" }),
    "2.00001",
  ],
  // 200 001 * 5
  [
    "the first moment of the next price",
    claude("claude-opus-4-6", { input_uncached: 200_001 }, { ts: "2026-03-13T00:00:00.000Z" }),
    "1.000005",
  ],
  // deepseek-v4-flash: 0.22, from 01:00 to 04:00 UTC 0.44. 1 000 000 * 0.44
  [
    "a price by the time of day",
    gpt("deepseek-v4-flash", { input_uncached: M }, { upstream: "deepseek", ts: "2026-11-20T01:00:00.000Z" }),
    "0.44",
  ],
  // 1 000 000 * 0.22
  [
    "the end of that time",
    gpt("deepseek-v4-flash", { input_uncached: M }, { upstream: "deepseek", ts: "2026-11-20T04:00:00.000Z" }),
    "0.22",
  ],
  // deepseek-v4-pro: 0.66, at peak 1.32, but not on weekends: 2026-11-21 is a Saturday
  [
    "a peak hour on a Saturday",
    gpt("deepseek-v4-pro", { input_uncached: M }, { upstream: "deepseek", ts: "2026-11-21T01:00:00.000Z" }),
    "0.66",
  ],
  [
    "a peak hour on a Friday",
    gpt("deepseek-v4-pro", { input_uncached: M }, { upstream: "deepseek", ts: "2026-11-20T01:00:00.000Z" }),
    "1.32",
  ],
  // National Day
  [
    "a peak hour on a holiday in China",
    gpt("deepseek-v4-pro", { input_uncached: M }, { upstream: "deepseek", ts: "2026-10-01T07:00:00.000Z" }),
    "0.66",
  ],
  // 0.435 until 2026-08-17, without peak hours. 2026-08-14 was a Friday
  [
    "an hour that was not a peak one yet",
    gpt("deepseek-v4-pro", { input_uncached: M }, { upstream: "deepseek", ts: "2026-08-14T01:00:00.000Z" }),
    "0.435",
  ],
  // deepseek-flash, whose list has the peak price of 0.3 alone
  [
    "a model whose list has the peak price alone",
    gpt("deepseek-flash", { input_uncached: M }, { upstream: "deepseek", ts: "2026-11-20T12:00:00.000Z" }),
    "0.15",
  ],
  // claude-haiku-5-5: 0.1, above 100 000 tokens 0.5. 100 000 * 0.1; 100 001 * 0.5
  [
    "100 000 tokens at a limit of a new model",
    claude("claude-haiku-5-5", { input_uncached: 100_000 }),
    "0.01",
  ],
  ["100 001 tokens at it", claude("claude-haiku-5-5", { input_uncached: 100_001 }), "0.0500005"],
  // 300 000 * 2 * 1.1
  [
    "a region of a model that only the second source has",
    claude("claude-sonnet-5-5", { input_uncached: 300_000 }, { inference_geo: "us" }),
    "0.66",
  ],
  // An hour's write costs twice the input: 10 000 * 2 * 2.2 at Bedrock, 10 000 * 2 * 3 at Vertex
  [
    "a cache write for an hour at Bedrock",
    claude("us.anthropic.claude-sonnet-5-5", { cache_write_1h: 10_000 }, { upstream: "bedrock" }),
    "0.044",
  ],
  [
    "a cache write for an hour at Vertex",
    claude("claude-sonnet-4-5@20250929", { cache_write_1h: 10_000 }, { upstream: "vertex" }),
    "0.06",
  ],
  // Tiers of the configuration: 7 * 1, then 8 * 2
  [
    "a size at a limit of the configuration",
    claude("tiered", { input_uncached: 7 }),
    "0.000007 configuration",
  ],
  ["a size above it", claude("tiered", { input_uncached: 8 }), "0.000016 configuration"],

  // Tool loops: the price of each sampling is by its own input.
  // 3 * 150 000 * 3 = 1.35; 300 * 15 = 0.0045. As one prompt it would be 450 000 * 6 = 2.7
  [
    "a loop whose sum passes the cliff, but whose parts do not",
    claude(
      "claude-sonnet-4-5",
      { input_uncached: 450_000, output: 300 },
      loop([sample(150_000, 100), sample(150_000, 100), sample(150_000, 100)]),
    ),
    "1.3545",
  ],
  // 150 000 * 3 = 0.45; 250 000 * 6 = 1.5; 100 * 15 = 0.0015; 100 * 22.5 = 0.00225
  [
    "a loop of which one part passes it",
    claude(
      "claude-sonnet-4-5",
      { input_uncached: 400_000, output: 200 },
      loop([sample(150_000, 100), sample(250_000, 100)]),
    ),
    "1.95375",
  ],
  // Cached input counts too: 1 * 6 + 200 000 * 0.6 = 0.120006; then 1 * 3 = 0.000003
  [
    "a loop of which one part passes it with its cache",
    claude(
      "claude-sonnet-4-5",
      { input_uncached: 2, cache_read: 200_000 },
      loop([sample(1, 0, { cache_read_input_tokens: 200_000 }), sample(1, 0)]),
    ),
    "0.120009",
  ],
  // At the base price 404 500 * 3; which prompts were long is not known
  [
    "a loop whose parts are not known",
    claude(
      "claude-sonnet-4-5",
      { input_uncached: 404_500 },
      { server_tools: { web_search: 0, web_fetch: 4 } },
    ),
    "unpriced claude-sonnet-4-5: long context; at least 1.2135",
  ],
  // No part of 180 000 is above 200 000: 180 000 * 3
  [
    "a short loop whose parts are not known",
    claude("claude-sonnet-4-5", { input_uncached: 180_000 }, { server_tools: { web_fetch: 4 } }),
    "0.54",
  ],
  // 404 500 * 2
  [
    "such a loop of a model with one price",
    claude("claude-sonnet-5", { input_uncached: 404_500 }, { server_tools: { web_fetch: 4 } }),
    "0.809",
  ],
  // The parts say 300 000, the total 400 000: 400 000 * 3
  [
    "a loop whose parts do not add up",
    claude(
      "claude-sonnet-4-5",
      { input_uncached: 400_000 },
      { ...loop([sample(150_000, 0), sample(150_000, 0)]), server_tools: { web_fetch: 1 } },
    ),
    "unpriced claude-sonnet-4-5: long context; at least 1.2",
  ],
  // After a fallback the usage is that of the attempt which served: 2 * 150 000 * 3, not 300 000 * 6
  [
    "a fallback within the service",
    claude(
      "claude-sonnet-4-5",
      { input_uncached: 300_000 },
      loop([
        sample(300_000, 0, { model: "claude-opus-4-1" }),
        sample(150_000, 0, { model: "claude-sonnet-4-5" }),
        { ...sample(150_000, 0, { model: "claude-sonnet-4-5" }), type: "fallback_message" },
      ]),
    ),
    "0.9",
  ],
  // No tool was called, so it is one prompt: 250 000 * 6
  [
    "tools that were not called",
    claude("claude-sonnet-4-5", { input_uncached: 250_000 }, { server_tools: { web_search: 0 } }),
    "1.5",
  ],

  // Sets that the usage leaves out.
  // Compaction, by the same model: 100 * 2 + 55 096 * 0.2 + 83 * 10 = 200 + 11 019.2 + 830; the message: 181 * 2 + 8 * 10 = 442
  [
    "a compaction",
    claude(
      "claude-sonnet-5",
      { input_uncached: 181, output: 8 },
      {
        extra: [
          extraTokens({
            type: "compaction",
            model: null,
            billable: true,
            input_uncached: 100,
            cache_read: 55_096,
            output: 83,
          }),
        ],
      },
    ),
    "0.0124912",
  ],
  // The advisor is Opus 4.8: 2543 * 5 + 18 * 25 = 13 165; the message 2411 * 2 + 145 * 10 = 6272
  [
    "an advisor, at its own model's price",
    claude(
      "claude-sonnet-5",
      { input_uncached: 2411, output: 145 },
      {
        extra: [
          extraTokens({
            type: "advisor_message",
            model: "claude-opus-4-8",
            billable: true,
            input_uncached: 2543,
            output: 18,
          }),
        ],
      },
    ),
    "0.019437",
  ],
  // The advisor's prompt is a prompt of its own: 150 000 * 3 twice, not 300 000 * 6
  [
    "an extra prompt of its own size",
    claude(
      "claude-sonnet-4-5",
      { input_uncached: 150_000 },
      {
        extra: [
          extraTokens({
            type: "advisor_message",
            model: "claude-sonnet-4-5",
            billable: true,
            input_uncached: 150_000,
          }),
        ],
      },
    ),
    "0.9",
  ],
  // 1000 * 2; the declined attempt is billed in some cases only
  [
    "a declined attempt",
    claude(
      "claude-sonnet-5",
      { input_uncached: 1000 },
      { extra: [extraTokens({ type: "message", model: "claude-opus-5", billable: null, output: 9 })] },
    ),
    "0.002",
  ],
  // 1000 * 1.25; the model that drew is not named
  [
    "a tool's tokens of a model that is not named",
    gpt(
      "gpt-5",
      { input_uncached: 1000 },
      { extra: [extraTokens({ type: "image_gen", model: null, billable: true, output: 4160 })] },
    ),
    "unpriced null: model; at least 0.00125",
  ],

  // Service tiers, speed, region.
  // (300 000 * 2 + 10 000 * 4 + 100 000 * 10) / 2 = 1 640 000 / 2
  [
    "a batch",
    claude(
      "claude-sonnet-5",
      { input_uncached: 300_000, cache_write_1h: 10_000, output: 100_000 },
      { service_tier: "batch" },
    ),
    "0.82",
  ],
  ["the standard tier", claude("claude-sonnet-5", { input_uncached: M }, { service_tier: "standard" }), "2"],
  // (100 000 * 2.5 + 10 000 * 15) / 2 = 400 000 / 2
  [
    "the flex tier",
    gpt("gpt-5.4", { input_uncached: 100_000, output: 10_000 }, { service_tier: "flex" }),
    "0.2",
  ],
  // (272 000 * 5) / 2
  [
    "the flex tier of a long prompt",
    gpt("gpt-5.4", { input_uncached: 272_000 }, { service_tier: "flex" }),
    "0.68",
  ],
  // gpt-5.5 at 2.5 times: 100 000 * 12.5 + 10 000 * 1.25 + 1000 * 75 = 1 250 000 + 12 500 + 75 000
  [
    "the priority tier",
    gpt(
      "gpt-5.5",
      { input_uncached: 100_000, cache_read: 10_000, output: 1000 },
      { service_tier: "priority" },
    ),
    "1.3375",
  ],
  [
    "the priority tier of a long prompt, which has no price",
    gpt("gpt-5.5", { input_uncached: 272_000 }, { service_tier: "priority" }),
    "unpriced gpt-5.5: tier priority; at least 0",
  ],
  // gpt-5-mini: 0.25 * 1.8 = 0.45. 1000 * 0.45
  [
    "a tier whose factor is no whole number",
    gpt("gpt-5-mini", { input_uncached: 1000 }, { service_tier: "priority" }),
    "0.00045",
  ],
  // gpt-5.6-sol: 8 from 272 000 on, twice. 272 000 * 16
  [
    "the fast tier of a long prompt",
    gpt("gpt-5.6-sol", { input_uncached: 272_000 }, { service_tier: "fast" }),
    "4.352",
  ],
  // 1000 * 8; for writes no fast price is known
  [
    "the fast tier with a cache write",
    gpt("gpt-5.6-sol", { input_uncached: 1000, cache_write_30m: 1000 }, { service_tier: "fast" }),
    "unpriced gpt-5.6-sol: tier fast; at least 0.008",
  ],
  [
    "a tier whose price is in a contract",
    claude("claude-sonnet-4-5", { input_uncached: 1000 }, { service_tier: "priority" }),
    "unpriced claude-sonnet-4-5: tier priority; at least 0",
  ],
  [
    "a tier of a model that is not known to have it",
    gpt("gpt-4.1", { input_uncached: 1000 }, { service_tier: "flex" }),
    "unpriced gpt-4.1: tier flex; at least 0",
  ],
  [
    "a batch at a service whose discount is not known",
    gpt("deepseek-v4-flash", { input_uncached: 1000 }, { upstream: "deepseek", service_tier: "batch" }),
    "unpriced deepseek-v4-flash: tier batch; at least 0",
  ],
  // Opus 5: 5 / 0.5 / 6.25 / 10 / 25, twice. 10 000 * 10 + 1000 * 50
  [
    "the fast speed",
    claude("claude-opus-5", { input_uncached: 10_000, output: 1000 }, { speed: "fast" }),
    "0.15",
  ],
  // Opus 4.6 at 6 times; cache multipliers on top: 1000 * 30 + 1000 * 3
  [
    "the fast speed of an older model",
    claude("claude-opus-4-6", { input_uncached: 1000, cache_read: 1000 }, { speed: "fast" }),
    "0.033",
  ],
  [
    "the fast speed of a model that is not known to have it",
    claude("claude-sonnet-5", { input_uncached: 1000 }, { speed: "fast" }),
    "unpriced claude-sonnet-5: speed fast; at least 0",
  ],
  // 100 000 * 2 * 1.1 = 0.22; 100 000 * 0.2 * 1.1 = 0.022
  [
    "inference in the US",
    claude("claude-sonnet-5", { input_uncached: 100_000, cache_read: 100_000 }, { inference_geo: "us" }),
    "0.242",
  ],
  // 1 * 2 * 0.5 * 1.1 / 10^6
  [
    "a batch in the US",
    claude("claude-sonnet-5", { input_uncached: 1 }, { inference_geo: "us", service_tier: "batch" }),
    "0.0000011",
  ],
  ["no region", claude("claude-sonnet-5", { input_uncached: M }, { inference_geo: "not_available" }), "2"],
  [
    "a region that an older model does not have",
    claude("claude-opus-4-5", { input_uncached: 1000 }, { inference_geo: "us" }),
    "unpriced claude-opus-4-5: region us; at least 0",
  ],
  // 100 000 * 2.5 * 1.1
  ["a regional host", gpt("gpt-5.4", { input_uncached: 100_000 }, { upstream: "europe" }), "0.275"],
  [
    "a regional host with a model whose uplift is not known",
    gpt("gpt-5", { input_uncached: 1000 }, { upstream: "europe" }),
    "unpriced gpt-5: region eu; at least 0",
  ],

  // Tools of the service, per call.
  // 3 * 10 / 1000 = 0.03; 1000 * 2 = 0.002
  [
    "web searches",
    claude("claude-sonnet-5", { input_uncached: 1000 }, { server_tools: { web_search: 3 } }),
    "0.032",
  ],
  // The searches are not halved: 0.03 + 0.001
  [
    "web searches in a batch",
    claude(
      "claude-sonnet-5",
      { input_uncached: 1000 },
      { server_tools: { web_search: 3 }, service_tier: "batch" },
    ),
    "0.031",
  ],
  [
    "fetched pages, which are free",
    claude("claude-sonnet-5", { input_uncached: 1000 }, { server_tools: { web_fetch: 3 } }),
    "0.002",
  ],
  // 1000 * 1.25. What OpenAI would charge for a fetch is not known
  [
    "fetched pages at another service",
    gpt("gpt-5", { input_uncached: 1000 }, { server_tools: { web_fetch: 3 } }),
    "unpriced gpt-5: web_fetch; at least 0.00125",
  ],
  [
    "a tool without a price",
    gpt("gpt-5", { input_uncached: 1000 }, { server_tools: { file_search: 2, web_search: 0 } }),
    "unpriced gpt-5: file_search; at least 0.00125",
  ],
  // sonar: 1 / - / - / - / 1 and a fee per request, which depends on the size of the search
  [
    "a fee that no record tells",
    gpt("sonar", { input_uncached: 1000 }, { upstream: "perplexity" }),
    "unpriced sonar: requests; at least 0.001",
  ],
  // 1000 * 2.5, and some of it is audio
  [
    "audio in the input",
    gpt("gpt-4o", { input_uncached: 1000 }, { raw_usage: { prompt_tokens_details: { audio_tokens: 70 } } }),
    "unpriced gpt-4o: input_audio; at least 0.0025",
  ],
  // 1000 * 2.5: pictures and sound have prices of their own on these routes, also where the usage does not tell them apart
  [
    "an image",
    gpt(
      "gpt-4o",
      { input_uncached: 1000 },
      { route: "/images/generations", raw_usage: { input_tokens: 1000 } },
    ),
    "unpriced gpt-4o: output_image; at least 0.0025",
  ],
  [
    "a transcript",
    gpt(
      "gpt-4o",
      { input_uncached: 1000 },
      { route: "/audio/transcriptions", raw_usage: { input_tokens: 1000 } },
    ),
    "unpriced gpt-4o: input_audio; at least 0.0025",
  ],
  [
    "no audio in the input",
    gpt("gpt-4o", { input_uncached: 1000 }, { raw_usage: { prompt_tokens_details: { audio_tokens: 0 } } }),
    "0.0025",
  ],

  // Which model, at which upstream.
  ["a model that is in no table", gpt("frontier-9", { output: 1 }), "unpriced frontier-9: model; at least 0"],
  [
    "a response without a model",
    usageRecord({ model: null, model_requested: null }),
    "unpriced null: model; at least 0",
  ],
  // 1000 * 2
  [
    "the alias that was requested",
    claude("", { input_uncached: 1000 }, { model: null, alias: "claude-sonnet-5", model_requested: "gpt-5" }),
    "0.002",
  ],
  ["another service's model", claude("gpt-5", { input_uncached: 1000 }), "unpriced gpt-5: model; at least 0"],
  [
    "another service's model at a regional host",
    claude("claude-sonnet-5", { input_uncached: 1000 }, { upstream: "europe" }),
    "unpriced claude-sonnet-5: model; at least 0",
  ],
  // The maker's list price: 1000 * 2
  ["a gateway", claude("claude-sonnet-5", { input_uncached: 1000 }, { upstream: "gateway" }), "0.002"],
  [
    "an upstream of the past",
    claude("claude-sonnet-5", { input_uncached: 1000 }, { upstream: "gone" }),
    "0.002",
  ],
  ["a date in a model's name", claude("claude-opus-5-20260723", { input_uncached: 1000 }), "0.005"],
  ["a date that is written in the other way", gpt("gpt-5.4-20260305", { input_uncached: 1000 }), "0.0025"],
  [
    "a later model whose name begins like an older one's",
    claude("claude-sonnet-5-6", { input_uncached: 1000 }),
    "unpriced claude-sonnet-5-6: model; at least 0",
  ],

  // The configuration.
  // 1000 * 3
  [
    "a price before its successor",
    gpt("house-1", { input_uncached: 1000 }, { ts: "2026-10-31T23:59:59.999Z" }),
    "0.003 configuration",
  ],
  // 1000 * 2 + 1000 * 0.2 + 1000 * 2.5 + 1000 * 4 + 1000 * 10 = 18 700
  [
    "an override from a date on",
    gpt(
      "house-1",
      { input_uncached: 1000, cache_read: 1000, cache_write_5m: 1000, cache_write_1h: 1000, output: 1000 },
      { ts: "2026-11-01T00:00:00.000Z" },
    ),
    "0.0187 configuration",
  ],
  ["the first pattern that matches", gpt("house-late", { input_uncached: 1000 }), "0.002 configuration"],
  [
    "a price from a day that has not come",
    gpt("new-1", { input_uncached: 1000 }, { ts: "2026-10-31T12:00:00.000Z" }),
    "unpriced new-1: model; at least 0",
  ],
  // The table's, until 2030: 1000 * 2
  ["a table's price until an override begins", claude("claude-sonnet-5", { input_uncached: 1000 }), "0.002"],
  [
    "a class that the configuration leaves out",
    gpt("house-1", { input_uncached: 1000, cache_read: 5 }, { ts: "2026-10-01T00:00:00.000Z" }),
    "unpriced house-1: cache_read; at least 0.003",
  ],
  // (1000 * 1 + 1000 * 4 = 0.005, 2 searches at 5 = 0.01) * 0.9
  [
    "the prices of an upstream, with its discount",
    claude(
      "claude-sonnet-5",
      { input_uncached: 1000, output: 1000 },
      { upstream: "reseller", server_tools: { web_search: 2 } },
    ),
    "0.0135 configuration",
  ],
  // 1000 * 2 * 0.875
  [
    "a discount on the table",
    claude("claude-sonnet-5", { input_uncached: 1000 }, { upstream: "contract" }),
    "0.00175",
  ],
  // Its own model 1000 * 2; the advisor, which only the table knows, 1000 * 5
  [
    "a model of the configuration with an advisor of the table",
    gpt(
      "house-1",
      { input_uncached: 1000 },
      {
        upstream: "gateway",
        extra: [
          extraTokens({
            type: "advisor_message",
            model: "claude-opus-4-8",
            billable: true,
            input_uncached: 1000,
          }),
        ],
      },
    ),
    "0.007 configuration",
  ],
  // The tiers are the provider's: 1000 * 1 * 0.5 * 0.9. At an unknown host the maker's count only for the maker
  [
    "a batch at an upstream with prices of its own",
    claude("claude-sonnet-5", { input_uncached: 1000 }, { upstream: "reseller", service_tier: "batch" }),
    "0.00045 configuration",
  ],
  [
    "a tier of a model that only the configuration knows",
    gpt("house-1", { input_uncached: 1000 }, { service_tier: "flex" }),
    "unpriced house-1: tier flex; at least 0",
  ],

  // What costs nothing, what was billed, what is not known.
  ["an upstream without a key", gpt("qwen3", { input_uncached: M }, { upstream: "local" }), "0 free"],
  [
    "a part of a response of an upstream without a key",
    gpt("qwen3", { input_uncached: M }, { upstream: "local", usage: "partial" }),
    "0 free",
  ],
  [
    "a response without usage of an upstream without a key",
    gpt(
      "qwen3",
      {},
      { upstream: "local", tokens: null, usage: "absent", spend: "never", outcome: "completed" },
    ),
    "0 free",
  ],
  // 1000 * 1
  [
    "an upstream without a key that has a price",
    gpt("rented-1", { input_uncached: 1000 }, { upstream: "local" }),
    "0.001 configuration",
  ],
  ["the sandbox", claude("claude-sonnet-5", { input_uncached: M }, { upstream: "sandbox" }), "0 free"],
  [
    "the sandbox, whatever it says of itself",
    claude("x", { output: M }, { upstream: "sandbox", billed_usd: "7", usage: "partial" }),
    "0 free",
  ],
  [
    "a bill of the service, whatever the table says",
    gpt("claude-sonnet-5", { input_uncached: M }, { upstream: "openrouter", billed_usd: "0.00219855" }),
    "0.00219855 billed",
  ],
  [
    "a bill of 0",
    gpt("claude-sonnet-5", { output: M }, { upstream: "openrouter", billed_usd: "0" }),
    "0 billed",
  ],
  [
    "counts that are a lower bound",
    claude("claude-sonnet-5", { input_uncached: 1000 }, { usage: "partial", outcome: "cut" }),
    "≥ 0.002",
  ],
  [
    "sets that did not fit into the record",
    claude("claude-sonnet-5", { input_uncached: 1000 }, { flags: ["extra_cut_short"] }),
    "≥ 0.002",
  ],
  ["no usage", claude("claude-sonnet-5", {}, { tokens: null, usage: "absent", spend: "never" }), "unknown"],
  [
    "no usage but that of a tool",
    gpt(
      "gpt-5",
      {},
      {
        tokens: null,
        usage: "absent",
        spend: "never",
        extra: [extraTokens({ type: "image_gen", model: null, billable: null, output: 1 })],
      },
    ),
    "unknown",
  ],
  [
    "a background response that is still running",
    gpt("gpt-5", {}, { tokens: null, usage: "pending", spend: "attach_by_response_id" }),
    "unknown",
  ],
  // 1000 * 1.25
  [
    "a fetch that brings the usage",
    gpt(
      "gpt-5",
      { input_uncached: 1000 },
      { method: "GET", route: "/responses/{id}", spend: "attach_by_response_id" },
    ),
    "0.00125",
  ],
  [
    "a plain error",
    claude(
      "claude-sonnet-5",
      {},
      { tokens: null, usage: "absent", spend: "never", outcome: "error", status: 429 },
    ),
    "0 free",
  ],
  [
    "a count of tokens",
    claude(
      "claude-sonnet-5",
      {},
      { tokens: null, usage: "none", spend: "never", route: "/messages/count_tokens" },
    ),
    "0 free",
  ],
  // 0.0000005 / 10^6
  ["half of a millionth of a millionth", gpt("dust", { input_uncached: 1 }), "0.0000000000005 configuration"],
];

test("prices that were worked out by hand, to the last digit", async (t) => {
  for (const [what, record, cost] of CASES)
    await t.test(what, () => assert.equal(describeCost(costOf(record, PRICES)), cost));
});

test("a loop of a model with one price is one prompt, which keeps its reckoning short", () => {
  const samples = loop([sample(1000, 1), sample(2000, 2), sample(3000, 3)]);
  const cost = costOf(claude("claude-sonnet-5", { input_uncached: 6000, output: 6 }, samples), PRICES);
  assert.ok(cost.kind === "priced");
  assert.deepEqual(
    cost.lines.map(({ class: name, count: n }) => [name, n]),
    [
      ["input_uncached", 6000],
      ["output", 6],
    ],
  );
});

test("the lines of a reckoning say how it came about", () => {
  const record = claude(
    "claude-sonnet-5",
    { input_uncached: 1000, output: 10 },
    { upstream: "contract", inference_geo: "us", server_tools: { web_search: 1 } },
  );
  const cost = costOf(record, PRICES);
  assert.ok(cost.kind === "priced");
  assert.deepEqual(
    cost.lines.map(({ class: name, source, count: n, per, factors, amount }) => [
      name,
      source,
      n,
      per,
      factors.map(({ what }) => what).join(", "),
      formatMoney(amount),
    ]),
    [
      // 1000 * 2 * 1.1 * 0.875 = 1925 millionths
      ["input_uncached", "anthropic", 1000, M, "region us, discount", "0.001925"],
      // 10 * 10 * 1.1 * 0.875 = 96.25 millionths
      ["output", "anthropic", 10, M, "region us, discount", "0.00009625"],
      // 10 / 1000 * 0.875 = 0.00875
      ["web_search", "anthropic", 1, 1000, "discount", "0.00875"],
    ],
  );
  assert.equal(formatMoney(cost.amount), "0.01077125");
});
