// The sizes of the prompts of a batch, which may decide their price: the results are added up in sets of prompts between the same limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { PROMPT_LIMITS } from "../../../src/core/usage/batch/prompt-limits.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { assertInvariants } from "./invariants.ts";
import { jsonSetup, readBody } from "./response-bodies.ts";

const RESULTS: Partial<MeterSetup> = {
  dialect: "batch_results",
  spend: "attach_by_response_id",
  contentType: "application/x-jsonl",
};
const SONNET = "claude-sonnet-4-5";
const HAIKU = "claude-haiku-5-5";

const message = (model: string, usage: object) => ({ id: "msg_1", model, stop_reason: "end_turn", usage });

function readResults(messages: readonly object[]): MeterReading {
  const lines = messages.map((one) => JSON.stringify({ result: { type: "succeeded", message: one } }));
  const reading = readBody(lines.map((line) => `${line}\n`).join(""), jsonSetup(RESULTS));
  assertInvariants(reading);
  return reading;
}

/** The sets of a batch, the own one first: model, input, output, smallest and largest prompt. */
function setsOf({ model, tokens, extra, ...own }: MeterReading): unknown[] {
  assert.ok(tokens !== null);
  const { smallest_prompt, largest_prompt } = own;
  return [{ model, ...tokens, smallest_prompt, largest_prompt }, ...extra].map((set) => [
    set.model,
    set.input_uncached + set.cache_read + set.cache_write,
    set.output,
    set.smallest_prompt,
    set.largest_prompt,
  ]);
}

test("the limits of all listed prices are those by which prompts are kept apart", () => {
  assert.deepEqual(PROMPT_LIMITS, priceBook({}).allLimits());
});

test("prompts between the same limits are one set, by their whole input, and the sets have their sizes", () => {
  const reading = readResults([
    message(SONNET, { input_tokens: 10, output_tokens: 1 }),
    message(SONNET, { input_tokens: 150_000, cache_read_input_tokens: 50_000, output_tokens: 2 }),
    message(SONNET, { input_tokens: 1, cache_creation_input_tokens: 200_000, output_tokens: 4 }),
    message(SONNET, { input_tokens: 20, output_tokens: 8 }),
    message(HAIKU, { input_tokens: 30, output_tokens: 16 }),
    message(SONNET, { input_tokens: 240_000, output_tokens: 32 }),
  ]);
  assert.deepEqual(setsOf(reading), [
    [SONNET, 30, 9, 10, 20],
    [SONNET, 200_000, 2, 200_000, 200_000],
    [SONNET, 440_001, 36, 200_001, 240_000],
    [HAIKU, 30, 16, 30, 30],
  ]);
  assert.deepEqual(reading.flags, ["summed"]);
  assert.ok(reading.extra.every(({ type, billable }) => type === "batch" && billable === true));
});

test("messages of another speed or region are sets of their own, which say so only where they differ from the first", () => {
  const served = (geo: string, model = SONNET) =>
    message(model, { input_tokens: 1, output_tokens: 1, inference_geo: geo });
  const reading = readResults([served("us"), served("global"), served("us", HAIKU), served("us")]);
  assert.deepEqual([reading.inference_geo, reading.tokens?.input_uncached], ["us", 2]);
  assert.deepEqual(
    reading.extra.map((set) => [set.model, set.input_uncached, set.speed, set.inference_geo]),
    [
      [SONNET, 1, null, "global"],
      [HAIKU, 1, undefined, undefined],
    ],
  );
});

test("reasoning is that of the own set, and null once a message does not say", () => {
  const thinking = (input: number, tokens: number) =>
    message(SONNET, {
      input_tokens: input,
      output_tokens: 100,
      output_tokens_details: { thinking_tokens: tokens },
    });
  const known = readResults([thinking(1, 30), thinking(300_000, 50), thinking(2, 40)]);
  const unknown = readResults([thinking(1, 30), message(SONNET, { input_tokens: 1, output_tokens: 1 })]);
  assert.deepEqual([known.tokens?.reasoning, unknown.tokens?.reasoning], [70, null]);
});

const LOOP = {
  input_tokens: 250_000,
  output_tokens: 20,
  server_tool_use: { web_search_requests: 1 },
};
const sampled = (input: number) => ({ type: "message", input_tokens: input, output_tokens: 10 });

test("each sampling of a listed tool loop is a prompt, and one that is not listed has prompts of any size", () => {
  const listed = { ...LOOP, iterations: [sampled(20_000), sampled(230_000)] };
  assert.deepEqual(setsOf(readResults([message(SONNET, listed)])), [
    [SONNET, 20_000, 10, 20_000, 20_000],
    [SONNET, 230_000, 10, 230_000, 230_000],
  ]);
  const short = { input_tokens: 5, output_tokens: 1 };
  for (const loop of [LOOP, { ...LOOP, iterations: [sampled(20_000), sampled(230_001)] }])
    assert.deepEqual(setsOf(readResults([message(SONNET, loop), message(SONNET, short)])), [
      [SONNET, 250_000, 20, 0, 250_000],
      [SONNET, 5, 1, 5, 5],
    ]);
});

test("a compaction is of the model of its own message", () => {
  const compacted = {
    input_tokens: 5,
    output_tokens: 1,
    iterations: [{ type: "compaction", input_tokens: 180_000, output_tokens: 3_500 }, sampled(5)],
  };
  const reading = readResults([
    message(SONNET, { input_tokens: 7, output_tokens: 1 }),
    message(HAIKU, compacted),
  ]);
  assert.deepEqual(
    reading.extra.map(({ type, model, largest_prompt }) => [type, model, largest_prompt]),
    [
      ["batch", HAIKU, 5],
      ["compaction", HAIKU, 180_000],
    ],
  );
});

test("a record has a bounded number of sets, however many requests a batch has", () => {
  const sizes = PROMPT_LIMITS.flatMap((limit) => [limit, limit + 1]);
  const messages = Array.from({ length: 500 }, (_, at) =>
    message(at < 250 ? SONNET : HAIKU, { input_tokens: sizes[at % sizes.length], output_tokens: 1 }),
  );
  const reading = readResults(messages);
  assert.equal(setsOf(reading).length, 2 * (PROMPT_LIMITS.length + 1));
  assert.equal(reading.usage, "final");
  assert.ok(JSON.stringify(reading).length < 10_000);
});

test("results without a success have no prompt", () => {
  const { smallest_prompt, largest_prompt } = readResults([]);
  assert.deepEqual([smallest_prompt, largest_prompt], [null, null]);
});
