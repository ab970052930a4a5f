// A batch costs what its requests would one by one, although its record has only sums.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { PROMPT_LIMITS } from "../../../src/core/usage/batch/prompt-limits.ts";
import type { Cost } from "../../../src/core/price/cost.ts";
import type { PriceBook } from "../../../src/core/price/price-book.ts";
import { costOf, describeCost, priceBook } from "../../helpers/ledger/prices.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { jsonSetup, readBody } from "../usage/response-bodies.ts";

const TS = "2026-11-20T12:00:00.000Z";
const UPSTREAMS = {
  anthropic: { baseUrl: "https://api.anthropic.com/v1" },
  openai: { baseUrl: "https://api.openai.com/v1" },
};
const PRICES = priceBook(UPSTREAMS);

type Message = { model: string; usage: object };

function readBatch(messages: readonly Message[]): MeterReading {
  const lines = messages.map((message) => JSON.stringify({ result: { type: "succeeded", message } }));
  const setup = jsonSetup({
    dialect: "batch_results",
    spend: "attach_by_response_id",
    contentType: "application/x-jsonl",
  });
  return readBody(lines.map((line) => `${line}\n`).join(""), setup);
}

function batchCost(messages: readonly Message[], prices: PriceBook): Cost {
  return costOf(usageRecord({ upstream: "anthropic", ts: TS, ...readBatch(messages) }), prices);
}

function singleCost(message: Message, prices: PriceBook): Cost {
  const reading = readBody(message, jsonSetup({ dialect: "messages", spend: "count" }));
  return costOf(usageRecord({ upstream: "anthropic", ts: TS, ...reading, model: message.model }), prices);
}

const amountOf = (cost: Cost) =>
  cost.kind === "priced" ? cost.amount : cost.kind === "unpriced" ? cost.atLeast : assert.fail("unknown");

const message = (model: string, input: number, output: number): Message => ({
  model,
  usage: { input_tokens: input, output_tokens: output, service_tier: "batch" },
});

// Claude Sonnet 4.5 costs 3 and 15 dollars per million tokens, and above 200,000 of input 6 and 22.50; a batch is half:
// (150,000 + 200,000) * 1.50 + 20 * 7.50, and 250,000 * 3 + 10 * 11.25.
test("a batch with short and long prompts has a price, each by its own size", () => {
  const prompts = [150_000, 250_000, 200_000].map((input) => message("claude-sonnet-4-5", input, 10));
  assert.equal(describeCost(batchCost(prompts, PRICES)), "1.2752625");
});

test("a record of an earlier version, without the sizes of its prompts, stays unpriced above the limit", () => {
  const prompts = [150_000, 150_000].map((input) => message("claude-sonnet-4-5", input, 10));
  const { smallest_prompt: _, largest_prompt: __, ...reading } = readBatch(prompts);
  const record = usageRecord({ upstream: "anthropic", ts: TS, ...reading });
  assert.equal(
    describeCost(costOf(record, PRICES)),
    "unpriced claude-sonnet-4-5: long context; at least 0.45015",
  );
});

// GPT-5.4 costs 2.50 and 15 dollars, and more above 272,000 tokens of input.
test("the object of a batch of OpenAI's has one sum: that has a price only if it is below the limit", () => {
  const costs = [200_000, 400_000].map((input) => {
    const usage = { input_tokens: input, output_tokens: 0, total_tokens: input };
    const body = { id: "batch_1", status: "completed", model: "gpt-5.4", usage };
    const reading = readBody(body, jsonSetup({ dialect: "batch", spend: "attach_by_response_id" }));
    return describeCost(costOf(usageRecord({ upstream: "openai", ts: TS, ...reading }), PRICES));
  });
  assert.deepEqual(costs, ["0.25", "unpriced gpt-5.4: long context; at least 0.5"]);
});

const size = fc.oneof(
  { weight: 3, arbitrary: fc.nat(600_000) },
  { weight: 1, arbitrary: fc.nat(1_000) },
  { weight: 2, arbitrary: fc.constantFrom(...PROMPT_LIMITS.flatMap((limit) => [limit, limit + 1])) },
);
const output = fc.nat(5_000);

/** Usage of a prompt of a size: a part of it is from the cache, or is written to it. */
const counts = fc
  .tuple(size, fc.nat(100), fc.nat(100), output)
  .map(([input, read, written, output_tokens]) => {
    const cache_read_input_tokens = Math.floor((input * read) / 200);
    const cache_creation_input_tokens = Math.floor((input * written) / 200);
    const input_tokens = input - cache_read_input_tokens - cache_creation_input_tokens;
    const h1 = Math.floor(cache_creation_input_tokens / 3);
    return {
      input_tokens,
      cache_read_input_tokens,
      cache_creation_input_tokens,
      cache_creation: {
        ephemeral_1h_input_tokens: h1,
        ephemeral_5m_input_tokens: cache_creation_input_tokens - h1,
      },
      output_tokens,
    };
  });
type Counts = typeof counts extends fc.Arbitrary<infer Of> ? Of : never;

const plain = counts.map((usage): object => usage);

/** A loop of searches, whose samplings are listed or not, with what other models did besides. */
const loop = fc
  .record({
    samples: fc.array(counts, { minLength: 1, maxLength: 3 }),
    others: fc.array(fc.tuple(fc.constantFrom("compaction", "advisor_message"), counts), { maxLength: 2 }),
    isListed: fc.boolean(),
    searches: fc.nat(2),
  })
  .map(({ samples, others, isListed, searches }): object => {
    const iterations = [
      ...(isListed ? samples.map((sample) => ({ type: "message", ...sample })) : []),
      ...others.map(([type, usage]) => ({
        type,
        ...(type === "advisor_message" && { model: "claude-haiku-5-5" }),
        ...usage,
      })),
    ];
    return { ...samples.reduce(addCounts), iterations, server_tool_use: { web_search_requests: searches } };
  });

function addCounts(one: Counts, other: Counts): Counts {
  const names = Object.keys(one).filter((name) => name !== "cache_creation") as (keyof Counts)[];
  const sums = Object.fromEntries(names.map((name) => [name, Number(one[name]) + Number(other[name])]));
  const { ephemeral_1h_input_tokens: h1, ephemeral_5m_input_tokens: m5 } = one.cache_creation;
  const cache_creation = {
    ephemeral_1h_input_tokens: h1 + other.cache_creation.ephemeral_1h_input_tokens,
    ephemeral_5m_input_tokens: m5 + other.cache_creation.ephemeral_5m_input_tokens,
  };
  return { ...one, ...sums, cache_creation };
}

const messagesOf = (models: readonly string[], geos: readonly string[]) =>
  fc.array(
    fc
      .tuple(fc.constantFrom(...models), fc.oneof(plain, plain, loop), fc.constantFrom(...geos))
      .map(([model, usage, geo]): Message => ({
        model,
        usage: { ...usage, service_tier: "batch", inference_geo: geo },
      })),
    { minLength: 1, maxLength: 30 },
  );

test("a batch costs what its requests cost one by one, to the last digit", () => {
  const models = ["claude-sonnet-4-5", "claude-haiku-5-5", "claude-sonnet-5", "claude-opus-4-6"];
  fc.assert(
    fc.property(messagesOf(models, ["global", "us", "not_available"]), (messages) => {
      const singles = messages.map((one) => singleCost(one, PRICES));
      const batch = batchCost(messages, PRICES);
      assert.equal(
        amountOf(batch),
        singles.reduce((sum, cost) => sum + amountOf(cost), 0n),
      );
      // A loop that is not listed has prompts of unknown sizes, alone as well as in a batch.
      assert.equal(batch.kind, singles.every(({ kind }) => kind === "priced") ? "priced" : "unpriced");
    }),
    { numRuns: 500 },
  );
});

/** A response of OpenAI's with usage of a size, some of it from the cache, by the names of its API. */
const openAiBody = (models: readonly string[]) =>
  fc
    .record({
      object: fc.constantFrom("response", "chat.completion", "list"),
      model: fc.constantFrom(...models),
      input: size,
      read: fc.nat(100),
      generated: output,
      searches: fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, fc.nat(2)),
    })
    .map(({ object, model, input, read, generated, searches }) => {
      const cached_tokens = Math.floor((input * read) / 100);
      if (object === "list")
        return { object, model, data: [], usage: { prompt_tokens: input, total_tokens: input } };
      if (object === "chat.completion")
        return {
          object,
          model,
          choices: [{ index: 0, finish_reason: "stop" }],
          usage: {
            prompt_tokens: input,
            prompt_tokens_details: { cached_tokens },
            completion_tokens: generated,
            total_tokens: input + generated,
          },
        };
      const search = { type: "web_search_call", status: "completed", action: { type: "search" } };
      return {
        object,
        model,
        status: "completed",
        output: Array.from({ length: searches }, () => search),
        usage: {
          input_tokens: input,
          input_tokens_details: { cached_tokens },
          output_tokens: generated,
          total_tokens: input + generated,
        },
      };
    });

type OpenAiBody = ReturnType<typeof openAiBody> extends fc.Arbitrary<infer Of> ? Of : never;

/** The calls of tools are priced with the first set, so what has no price comes alone. */
const openAiBodies = fc
  .constantFrom(["gpt-5.4", "gpt-5.4-pro", "gpt-5"], ["text-embedding-3-small"], ["no-such-model"])
  .chain((models) => fc.array(openAiBody(models), { minLength: 1, maxLength: 30 }));

function outputCost(bodies: readonly OpenAiBody[]): Cost {
  const lines = bodies.map((body) => `${JSON.stringify({ response: { status_code: 200, body } })}\n`);
  const reading = readBody(
    lines.join(""),
    jsonSetup({ dialect: "batch_output", spend: "attach_by_response_id" }),
  );
  return costOf(usageRecord({ upstream: "openai", ts: TS, ...reading }), PRICES);
}

function bodyCost(body: OpenAiBody): Cost {
  const dialect = body.object === "response" ? "responses" : "chat";
  const reading = readBody(body, jsonSetup({ dialect, spend: "count" }));
  return costOf(usageRecord({ upstream: "openai", ts: TS, ...reading, service_tier: "batch" }), PRICES);
}

test("the output of a batch of OpenAI's costs what its requests cost one by one, to the last digit", () => {
  const seen = { priced: 0, unpriced: 0 };
  fc.assert(
    fc.property(openAiBodies, (bodies) => {
      const singles = bodies.map(bodyCost);
      const batch = outputCost(bodies);
      const isPriced = singles.every(({ kind }) => kind === "priced");
      assert.equal(batch.kind, isPriced ? "priced" : "unpriced");
      seen[isPriced ? "priced" : "unpriced"] += 1;
      assert.equal(
        amountOf(batch),
        singles.reduce((sum, cost) => sum + amountOf(cost), 0n),
      );
    }),
    { numRuns: 200 },
  );
  assert.ok(seen.priced > 10 && seen.unpriced > 10, JSON.stringify(seen));
});

test("at prices of the configuration a batch costs what its requests do, or is unpriced where a limit is between its prompts", () => {
  const seen = { priced: 0, unpriced: 0 };
  fc.assert(
    fc.property(messagesOf(["house-1"], ["global"]), fc.oneof(size, fc.nat(600_000)), (messages, above) => {
      const rates = {
        input: 3,
        cacheRead: 0.3,
        cacheWrite: 3.75,
        cacheWrite1h: 6,
        output: 15,
        webSearch: 10,
      };
      const prices = priceBook(UPSTREAMS, {
        "house-*": { ...rates, tiers: [{ above: above + 1, input: 6, cacheRead: 0.6, output: 22.5 }] },
        "claude-haiku-5-5": { ...rates },
      });
      const singles = messages.map((one) => singleCost(one, prices));
      const sum = singles.reduce((all, cost) => all + amountOf(cost), 0n);
      const batch = batchCost(messages, prices);
      if (batch.kind === "priced") seen.priced += 1;
      else seen.unpriced += 1;
      const isPriced = singles.every(({ kind }) => kind === "priced");
      if (batch.kind === "priced") {
        assert.ok(isPriced);
        assert.equal(batch.amount, sum);
        return;
      }
      assert.ok(amountOf(batch) <= sum);
      const { smallest_prompt, largest_prompt, extra } = readBatch(messages);
      const isBetween = [{ smallest_prompt, largest_prompt }, ...extra].some(
        ({ smallest_prompt: least, largest_prompt: most }) =>
          (least ?? 0) <= above + 1 && (most ?? 0) > above + 1,
      );
      assert.ok(isBetween || !isPriced);
    }),
    { numRuns: 300 },
  );
  assert.ok(seen.priced > 30 && seen.unpriced > 30, JSON.stringify(seen));
});

function googleLine(input: number): string {
  const usageMetadata = {
    promptTokenCount: input,
    candidatesTokenCount: 1_000,
    totalTokenCount: input + 1_000,
  };
  return `${JSON.stringify({ key: "a", response: { modelVersion: "gemini-2.5-pro", usageMetadata } })}\n`;
}

// gemini-2.5-pro costs 1.25 and 10 dollars, and 2.50 and 15 above 200,000 tokens of input; half of that in a batch.
test("the file of a batch of Google's costs what its requests do, each by its own size", () => {
  const prices = priceBook({ google: { baseUrl: "https://generativelanguage.googleapis.com/v1beta" } });
  const reading = readBody(
    googleLine(200_000) + googleLine(300_000),
    jsonSetup({ dialect: "batch_responses", spend: "attach_by_response_id" }),
  );
  const cost = costOf(usageRecord({ upstream: "google", ts: TS, ...reading }), prices);
  // (0.2 * 1.25 + 0.001 * 10 + 0.3 * 2.5 + 0.001 * 15) / 2
  assert.equal(describeCost(cost), "0.5125");
});
