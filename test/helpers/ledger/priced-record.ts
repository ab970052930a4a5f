import * as fc from "fast-check";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { priceBook } from "./prices.ts";
import { extraTokens, tokens, usageRecord } from "./usage-record.ts";

/** Prices of each kind: discounted, dated, of a table, of nobody, of a server that takes no key. */
export const PRICES = priceBook(
  {
    anthropic: { baseUrl: "https://api.anthropic.com/v1", discount: 12.5 },
    openai: { baseUrl: "https://api.openai.com/v1" },
    deepseek: { baseUrl: "https://api.deepseek.com/v1" },
    gateway: { baseUrl: "https://gateway.example/v1" },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none" },
  },
  {
    "house-*": [
      { input: 3, output: 15 },
      { from: "2026-11-10", input: 2, cacheRead: 0.2, output: 10, picture: 0.04, videoSecond: 0.4 },
    ],
  },
);

const LIMITS = PRICES.allLimits().flatMap((limit) => [limit, limit + 1]);
const size = fc.oneof(fc.nat(1000), fc.nat(600_000), fc.constantFrom(0, ...LIMITS));

/** How large the prompts of a set of a batch are. */
const sizes = fc.tuple(size, size).map(([one, other]) => ({
  smallest_prompt: Math.min(one, other),
  largest_prompt: Math.max(one, other),
}));
const NO_SIZES = { smallest_prompt: null, largest_prompt: null };

const served = fc.record({
  speed: fc.constantFrom(null, "fast"),
  inference_geo: fc.constantFrom(null, "us"),
});

/** A set of a batch beside the first one. */
const largeSet = fc
  .oneof(
    fc.constant({}),
    sizes,
    fc.tuple(sizes, served).map(([known, terms]) => ({ ...known, ...terms })),
  )
  .map((terms) =>
    extraTokens({
      type: "batch",
      model: "claude-sonnet-4-5",
      billable: true,
      input_uncached: 210_000,
      ...terms,
    }),
  );

/** Upstreams of each payer, with prices of each kind. */
export const anyPayer = fc.constantFrom(
  "anthropic",
  "openai",
  "deepseek",
  "local",
  "sandbox",
  "plan:claude",
  "extra:claude",
  "own:anthropic",
);

/** Records whose prices depend on everything that a price can depend on. */
export const pricedRecord: fc.Arbitrary<UsageRecord> = fc
  .record({
    upstream: fc.constantFrom("anthropic", "openai", "deepseek", "gateway", "local", "gone"),
    model: fc.constantFrom(
      "claude-sonnet-5",
      "claude-sonnet-4-5",
      "gpt-5.4",
      "gpt-5.6-sol",
      "deepseek-chat",
      "house-1",
      "nobody-knows",
      null,
    ),
    ts: fc
      .date({ min: new Date("2026-07-01"), max: new Date("2026-11-30"), noInvalidDate: true })
      .map((date) => date.toISOString()),
    tokens: fc.option(
      fc.record({ input_uncached: size, cache_read: size, cache_write: size, output: size }).map(tokens),
    ),
    usage: fc.constantFrom("final", "final", "final", "partial"),
    output_estimate: fc.constantFrom(null, null, 0, 700, 70_000),
    reserved_input: fc.constantFrom(null, null, 3_000),
    reserved_output: fc.constantFrom(null, null, 4_000),
    reserved_class: fc.constantFrom(null, "input_uncached", "cache_write_5m", "cache_write_1h"),
    reserved_tier: fc.constantFrom(null, "priority", "priority or scale"),
    reserved_speed: fc.constantFrom(null, "fast"),
    reserved_geo: fc.constantFrom(null, "us"),
    service_tier: fc.constantFrom(null, "standard", "batch", "priority", "scale"),
    speed: fc.constantFrom(null, "fast"),
    inference_geo: fc.constantFrom(null, "us"),
    server_tools: fc.constantFrom(
      {},
      { web_search: 2 },
      { code_execution: 1 },
      { picture: 3, video_second: 8 },
      JSON.parse('{"__proto__":3}') as object,
    ),
    billed_usd: fc.constantFrom(null, null, null, "0.0123"),
    extra: fc.oneof(
      fc.constantFrom(
        [],
        [extraTokens({ type: "advisor_message", model: "claude-opus-5-5", billable: true, output: 7 })],
        [extraTokens({ type: "message", model: "claude-opus-5-5", billable: null, output: 7 })],
      ),
      fc.array(largeSet, { minLength: 1, maxLength: 2 }),
    ),
    flags: fc.constantFrom([], [], ["summed"]),
    sizes: fc.option(sizes, { nil: NO_SIZES }),
    raw_usage: fc.constantFrom(null, { input_tokens_details: { audio_tokens: 3 } }),
  })
  .map(({ sizes: known, ...changes }) => {
    // Pictures that have no tokens are paid by number.
    const isByNumber = changes.tokens === null && "picture" in changes.server_tools;
    const usage = isByNumber ? "none" : changes.usage;
    return usageRecord({ ...changes, usage, ...known } as unknown as Partial<UsageRecord>);
  });
