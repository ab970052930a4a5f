// The output file of one of OpenAI's batches: a line for each request that was carried out, with the body of its response (docs/wire.md
// section 13).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import { assertInvariants } from "./invariants.ts";
import { meterChunks } from "./corpus.ts";
import { jsonSetup, nonZeroCounts, readBody } from "./response-bodies.ts";

const OUTPUT: Partial<MeterSetup> = {
  dialect: "batch_output",
  spend: "attach_by_response_id",
  contentType: "application/octet-stream",
};

const lineOf = (response: object | null, error: object | null = null) =>
  JSON.stringify({ id: "batch_req_1", custom_id: "a", response, error });
const succeeded = (body: object) => lineOf({ status_code: 200, request_id: "req_1", body });

const chat = (model: string, prompt: number, completion: number) =>
  succeeded({
    id: "chatcmpl-1",
    object: "chat.completion",
    model,
    choices: [
      { index: 0, message: { content: 'line\nbreaks {"usage": 1}' }, logprobs: null, finish_reason: "stop" },
    ],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 2, audio_tokens: 0 },
    },
  });

const response = (model: string, input: number, output: number, more: object = {}) =>
  succeeded({
    id: "resp_1",
    object: "response",
    status: "completed",
    error: null,
    incomplete_details: null,
    model,
    output: [{ type: "message", status: "completed", content: [{ type: "output_text", text: "hi" }] }],
    service_tier: "default",
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: input + output,
    },
    ...more,
  });

const embedding = succeeded({
  object: "list",
  data: [{ object: "embedding", index: 0, embedding: Array.from({ length: 3_072 }, (_, at) => at / 7) }],
  model: "text-embedding-3-large",
  usage: { prompt_tokens: 9, total_tokens: 9 },
});

const completion = succeeded({
  object: "text_completion",
  model: "gpt-3.5-turbo-instruct",
  choices: [{ text: "hi", index: 0, finish_reason: "length" }],
  usage: { prompt_tokens: 7, completion_tokens: 16, total_tokens: 23 },
});

const FAILED = [
  lineOf({ status_code: 400, request_id: "req_2", body: { error: { type: "invalid_request_error" } } }),
  lineOf(null, { code: "batch_expired", message: "This request could not be executed" }),
];

const read = (lines: readonly string[], changes: Partial<MeterSetup> = {}) => {
  const text = lines.map((line) => `${line}\n`).join("");
  const reading = readBody(text, jsonSetup({ ...OUTPUT, ...changes }));
  assertInvariants(reading);
  return reading;
};

test("the output of chats is added up at the tier of a batch, with the sizes of its prompts", () => {
  const reading = read([chat("gpt-5", 20, 6), FAILED[0] ?? "", chat("gpt-5", 50, 10), FAILED[1] ?? ""]);
  const { outcome, usage, spend, response_id, model, service_tier, extra, flags, ...rest } = reading;
  assert.deepEqual(
    [outcome, usage, spend, response_id, model, service_tier, extra, flags],
    ["completed", "final", "attach_by_response_id", null, "gpt-5", "batch", [], ["summed"]],
  );
  assert.deepEqual([rest.smallest_prompt, rest.largest_prompt], [20, 50]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 62, cache_read: 8, output: 16, reasoning: 4 });
});

for (const [endpoint, line, model, counts] of [
  ["/v1/responses", response("gpt-5.4", 30, 5), "gpt-5.4", { input_uncached: 30, output: 5, reasoning: 1 }],
  ["/v1/embeddings", embedding, "text-embedding-3-large", { input_uncached: 9 }],
  ["/v1/completions", completion, "gpt-3.5-turbo-instruct", { input_uncached: 7, output: 16 }],
] as const)
  test(`the output of a batch for ${endpoint} is read`, () => {
    const reading = read([line]);
    assert.deepEqual([reading.usage, reading.model, reading.flags], ["final", model, ["summed"]]);
    assert.deepEqual(nonZeroCounts(reading), counts);
  });

test("the members of a line may have any order", () => {
  const { id, custom_id, response: of } = JSON.parse(chat("gpt-5", 20, 6)) as { [name: string]: object };
  const { status_code, body } = of as { status_code: number; body: object };
  const reading = read([JSON.stringify({ custom_id, error: null, id, response: { body, status_code } })]);
  assert.deepEqual([reading.usage, reading.tokens?.input_total], ["final", 20]);
});

test("prompts on both sides of a long-context limit are sets of their own", () => {
  const reading = read([response("gpt-5.4", 272_000, 1), response("gpt-5.4", 272_001, 2)]);
  assert.deepEqual(
    [reading.smallest_prompt, reading.tokens?.output, reading.extra[0]?.smallest_prompt],
    [272_000, 1, 272_001],
  );
});

test("calls of the service's tools are counted, and pictures of its tool are a set of their own", () => {
  const item = { type: "web_search_call", status: "completed", action: { type: "search" } };
  const tool_usage = { image_gen: { input_tokens: 50, output_tokens: 200 } };
  const reading = read([
    response("gpt-5.4", 9, 1, { output: [item, item] }),
    response("gpt-5.4", 9, 1, { tool_usage }),
  ]);
  assert.deepEqual(reading.server_tools, { web_search: 2 });
  assert.deepEqual(
    reading.extra.map(({ type, output }) => [type, output]),
    [["image_gen", 200]],
  );
});

test("a file without a success costs nothing", () => {
  const { usage, tokens, largest_prompt } = read(FAILED);
  assert.deepEqual([usage, tokens?.total, largest_prompt], ["final", 0, null]);
});

test("what a set cannot tell makes the file inexact, so that the sum of the batch counts", () => {
  const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
  const audio = { completion_tokens_details: { audio_tokens: 5 } };
  for (const line of [
    "{",
    "nonsense",
    succeeded({ object: "chat.completion", model: "gpt-5", choices: [] }),
    succeeded({ object: "chat.completion", choices: [], usage }),
    succeeded({ object: "chat.completion", model: "gpt-audio", choices: [], usage: { ...usage, ...audio } }),
  ])
    assert.equal(read([chat("gpt-5", 20, 6), line]).usage, "partial", line);
});

test("a file that was cut anywhere is never exact", () => {
  const bytes = Buffer.from(`${chat("gpt-5", 20, 6)}\n${FAILED[0]}\n${response("gpt-5", 30, 5)}\n`);
  for (let at = 0; at < bytes.length; at += 1) {
    const reading = meterChunks(jsonSetup(OUTPUT), [bytes.subarray(0, at)], false);
    assert.deepEqual([reading.usage, reading.outcome], ["partial", "cut"], `cut at ${at}`);
  }
});

test("a part of the file, which a client asked for by Range, says nothing", () => {
  const { usage, spend, tokens } = read([chat("gpt-5", 20, 6)], { status: 206 });
  assert.deepEqual([usage, spend, tokens], ["absent", "never", null]);
});

function outputOf(status: string): string | null {
  const setup = jsonSetup({ dialect: "batch", spend: "attach_by_response_id" });
  return readBody({ id: "batch_1", status, output_file_id: "file-1" }, setup).output_file;
}

test("only a batch that has ended names its output file", () => {
  assert.deepEqual(["completed", "expired", "cancelled"].map(outputOf), ["file-1", "file-1", "file-1"]);
  assert.deepEqual(["in_progress", "finalizing", "cancelling"].map(outputOf), [null, null, null]);
});
