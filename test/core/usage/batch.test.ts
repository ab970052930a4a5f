// Usage of batches (docs/wire.md section 13): of OpenAI's in the batch itself, of Anthropic's in its results, a line for each request.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import { costOf, describeCost, priceBook } from "../../helpers/ledger/prices.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { assertInvariants } from "./invariants.ts";
import { meterChunks } from "./corpus.ts";
import { jsonSetup, nonZeroCounts, readBody } from "./response-bodies.ts";

const BATCH: Partial<MeterSetup> = { dialect: "batch", spend: "attach_by_response_id" };
const USAGE = {
  input_tokens: 300_000,
  input_tokens_details: { cached_tokens: 100_000 },
  output_tokens: 5_000,
  output_tokens_details: { reasoning_tokens: 1_000 },
  total_tokens: 305_000,
};
const ENDED = { id: "batch_1", object: "batch", status: "completed", model: "gpt-5", usage: USAGE };

test("a batch that has ended has the usage of all its requests, at the tier of a batch", () => {
  const reading = readBody(ENDED, jsonSetup(BATCH));
  assertInvariants(reading);
  const { outcome, usage, spend, response_id, model, service_tier, flags } = reading;
  assert.deepEqual(
    [outcome, usage, spend, response_id, model, service_tier, flags],
    ["completed", "final", "attach_by_response_id", "batch_1", "gpt-5", "batch", ["summed"]],
  );
  assert.deepEqual(nonZeroCounts(reading), {
    input_uncached: 200_000,
    cache_read: 100_000,
    output: 5_000,
    reasoning: 1_000,
  });
});

for (const [status, outcome, usage] of [
  ["validating", "queued", "pending"],
  ["in_progress", "in_progress", "pending"],
  ["finalizing", "in_progress", "pending"],
  ["cancelling", "in_progress", "pending"],
  ["some_day", "in_progress", "pending"],
  ["failed", "failed", "final"],
  ["expired", "incomplete", "final"],
  ["cancelled", "cancelled", "final"],
] as const)
  test(`a batch that is ${status} is ${outcome}, its usage ${usage}`, () => {
    const reading = readBody({ ...ENDED, status }, jsonSetup(BATCH));
    assertInvariants(reading);
    assert.deepEqual([reading.outcome, reading.usage], [outcome, usage]);
  });

test("a batch that is completed without counts is of unknown cost, and one that was cancelled with zeros of none", () => {
  const zeros = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  for (const usage of [undefined, null, zeros])
    assert.equal(readBody({ ...ENDED, usage }, jsonSetup(BATCH)).usage, "absent");
  const { tokens, usage } = readBody({ ...ENDED, status: "cancelled", usage: zeros }, jsonSetup(BATCH));
  assert.deepEqual([usage, tokens?.total], ["final", 0]);
});

test("a new batch of Anthropic's is pending", () => {
  const body = { id: "msgbatch_1", type: "message_batch", processing_status: "in_progress" };
  const { usage, spend, response_id } = readBody(body, jsonSetup({ ...BATCH, spend: "count" }));
  assert.deepEqual([usage, spend, response_id], ["pending", "attach_by_response_id", "msgbatch_1"]);
});

test("an error is no batch", () => {
  const { outcome, usage, error_type } = readBody({ error: { type: "bad" } }, jsonSetup(BATCH));
  assert.deepEqual([outcome, usage, error_type], ["error", "absent", "bad"]);
});

test("a created object has its id and no usage, and a completed upload that of its file", () => {
  const setup = jsonSetup({ dialect: "object", spend: "never" });
  const read = (body: object) => {
    const { outcome, usage, spend, response_id } = readBody(body, setup);
    return [outcome, usage, spend, response_id];
  };
  assert.deepEqual(read({ id: "file-1", object: "file" }), ["completed", "none", "never", "file-1"]);
  assert.deepEqual(read({ id: "upload_1", file: { id: "file-2" } }), [
    "completed",
    "none",
    "never",
    "file-2",
  ]);
  assert.deepEqual(read({ id: "upload_1", file: null }), ["completed", "none", "never", "upload_1"]);
  assert.deepEqual(read([]), ["completed", "none", "never", null]);
});

const RESULTS: Partial<MeterSetup> = {
  dialect: "batch_results",
  spend: "attach_by_response_id",
  contentType: "application/x-jsonl",
};

const message = (model: string, input: number, output: number, more: object = {}) => ({
  id: "msg_1",
  model,
  stop_reason: "end_turn",
  content: [{ type: "text", text: 'line\nbreaks {"usage": 1}' }],
  usage: { input_tokens: input, output_tokens: output, service_tier: "batch", ...more },
});
const succeeded = (id: string, of: object) =>
  JSON.stringify({ custom_id: id, result: { type: "succeeded", message: of } });

const LINES = [
  succeeded("a", message("claude-sonnet-5", 10, 5, { cache_read_input_tokens: 7 })),
  JSON.stringify({ custom_id: "b", result: { type: "errored", error: { type: "error" } } }),
  succeeded("c", message("claude-haiku-4-5", 1_000, 1)),
  JSON.stringify({ custom_id: "d", result: { type: "canceled" } }),
  succeeded("e", message("claude-sonnet-5", 20, 6)),
  JSON.stringify({ custom_id: "f", result: { type: "expired" } }),
];

for (const [what, body] of [
  ["as the service writes them", `${LINES.join("\n")}\n`],
  ["without a last line end", LINES.join("\n")],
  ["with CRLF and blank lines", `\r\n${LINES.join("\r\n\r\n")}\r\n \r\n`],
] as const)
  test(`the results of a batch are added up by model, ${what}`, () => {
    const reading = readBody(body, jsonSetup(RESULTS));
    assertInvariants(reading);
    const { outcome, usage, spend, model, service_tier, extra, flags } = reading;
    assert.deepEqual(
      [outcome, usage, spend, model, service_tier, flags],
      ["completed", "final", "attach_by_response_id", "claude-sonnet-5", "batch", ["summed"]],
    );
    assert.deepEqual(nonZeroCounts(reading), { input_uncached: 30, cache_read: 7, output: 11 });
    assert.deepEqual(
      extra.map((set) => [set.model, set.input_uncached, set.output, set.billable]),
      [["claude-haiku-4-5", 1_000, 1, true]],
    );
  });

test("results without a success cost nothing", () => {
  const reading = readBody(`${LINES[1]}\n`, jsonSetup(RESULTS));
  assert.deepEqual([reading.usage, reading.tokens?.total], ["final", 0]);
});

test("results that were cut anywhere are never exact", () => {
  const bytes = Buffer.from(`${LINES.join("\n")}\n`);
  for (let at = 0; at < bytes.length; at += 1) {
    const reading = meterChunks(jsonSetup(RESULTS), [bytes.subarray(0, at)], false);
    assert.equal(reading.usage, "partial", `cut at ${at}`);
    assert.equal(reading.outcome, "cut");
  }
});

test("a line that cannot be read, or a success without usage, makes the results inexact", () => {
  for (const line of ["{", "nonsense", succeeded("g", { model: "m" })]) {
    const reading = readBody(`${LINES.join("\n")}\n${line}\n`, jsonSetup(RESULTS));
    assert.equal(reading.usage, "partial", line);
  }
});

test("a part of the results, which a client asked for by Range, says nothing", () => {
  const reading = readBody(`${LINES[0]}\n`, jsonSetup({ ...RESULTS, status: 206 }));
  assert.deepEqual([reading.usage, reading.spend, reading.tokens], ["absent", "never", null]);
});

// Claude Haiku 4.5 costs $1 and $5 per million tokens of input and output; a batch is half: 1000 × $0.50 + 10 × $2.50.
test("a batch costs half", () => {
  const body = `${succeeded("a", message("claude-haiku-4-5", 400, 4))}\n${succeeded("b", message("claude-haiku-4-5", 600, 6))}\n`;
  const prices = priceBook({ anthropic: { baseUrl: "https://api.anthropic.com/v1" } });
  const record = usageRecord({
    upstream: "anthropic",
    ts: "2026-11-20T12:00:00.000Z",
    ...readBody(body, jsonSetup(RESULTS)),
  });
  assert.equal(describeCost(costOf(record, prices)), "0.000525");
});
