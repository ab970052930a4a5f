import assert from "node:assert/strict";
import { test } from "node:test";
import { createMeter } from "../../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../../src/core/usage/reading.ts";

const SETUP = {
  dialect: "batch",
  spend: "attach_by_response_id",
  status: 200,
  inputIncludesCache: false,
} as const;

function read(body: object): MeterReading {
  const meter = createMeter({ ...SETUP, contentType: "application/json; charset=UTF-8" });
  meter.feed(Buffer.from(JSON.stringify(body)));
  return meter.finish(true);
}

const result = (usageMetadata: object, more: object = {}) => ({
  response: {
    candidates: [{ finishReason: "STOP" }],
    modelVersion: "gemini-2.5-pro",
    usageMetadata,
    ...more,
  },
});

/** A batch as the service has it: its results in `response`, and once more in `metadata.output`. */
function batch(results: object[], state = "BATCH_STATE_SUCCEEDED", name = "batches/b-1"): object {
  const output = { inlinedResponses: { inlinedResponses: results } };
  return { name, metadata: { model: "models/gemini-2.5-pro", state, output }, done: true, response: output };
}

const details = (audio: number, text: number) => [
  { modality: "AUDIO", tokenCount: audio },
  { modality: "TEXT", tokenCount: text },
];

const names = (from: number) =>
  Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`n${from + at}`, 1]));

test("the usage of each request is read by its own arithmetic and added up, once", () => {
  const reading = read(
    batch([
      result({
        promptTokenCount: 100,
        cachedContentTokenCount: 40,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 3,
        totalTokenCount: 110,
      }),
      // Thoughts inside the candidates, by the total.
      result({ promptTokenCount: 10, candidatesTokenCount: 8, thoughtsTokenCount: 5, totalTokenCount: 18 }),
      { error: { code: 3, message: "no" } },
    ]),
  );
  const { tokens, usage, outcome, model, flags, response_id: id, service_tier: tier } = reading;
  assert.deepEqual(
    [tokens?.input_uncached, tokens?.cache_read, tokens?.output, tokens?.reasoning, tokens?.total],
    [70, 40, 18, 8, 128],
  );
  assert.deepEqual(
    [usage, outcome, model, id, tier],
    ["final", "completed", "gemini-2.5-pro", "b-1", "batch"],
  );
  assert.deepEqual(flags, ["summed", "thoughts_inside_candidates"]);
  assert.deepEqual([reading.smallest_prompt, reading.largest_prompt], [10, 100]);
  assert.equal(reading.raw_usage?.["promptTokenCount"], 110);
});

test("kinds of tokens are added up by kind, and searches by request", () => {
  const grounding = { candidates: [{ groundingMetadata: { webSearchQueries: ["a", "b"] } }] };
  const { raw_usage: raw, server_tools: calls } = read(
    batch([
      result({ promptTokenCount: 30, promptTokensDetails: details(20, 10), totalTokenCount: 30 }, grounding),
      result({ promptTokenCount: 5, promptTokensDetails: details(1, 4), totalTokenCount: 5 }, grounding),
    ]),
  );
  assert.deepEqual(raw?.["promptTokensDetails"], details(21, 14));
  // gemini-2.5-pro charges once for each prompt that was searched for.
  assert.deepEqual(calls, { web_search: 2 });
});

test("one that runs is pending; one whose results are in a file, or that failed, has no usage; embeddings have input", () => {
  for (const [state, usage, outcome] of [
    ["BATCH_STATE_PENDING", "pending", "queued"],
    ["JOB_STATE_RUNNING", "pending", "in_progress"],
    ["BATCH_STATE_UNHEARD_OF", "pending", "in_progress"],
    ["BATCH_STATE_FAILED", "absent", "failed"],
    ["BATCH_STATE_EXPIRED", "absent", "incomplete"],
    ["BATCH_STATE_CANCELLED", "absent", "cancelled"],
  ]) {
    const { tokens, ...reading } = read({ name: "batches/b-1", metadata: { state } });
    assert.deepEqual([reading.usage, reading.outcome, tokens], [usage, outcome, null]);
  }
  const inFile = read({ ...batch([]), response: { responsesFile: "files/f-1" } });
  assert.deepEqual([inFile.usage, inFile.spend, inFile.output_file], ["absent", "never", "f-1"]);
  const told = read({
    name: "batches/b-1",
    metadata: { state: "BATCH_STATE_SUCCEEDED", output: { responsesFile: "files/f-2" } },
  });
  assert.equal(told.output_file, "f-2");
  const running = read({
    name: "batches/b-1",
    metadata: { state: "BATCH_STATE_RUNNING" },
    response: { responsesFile: "files/f-1" },
  });
  assert.equal(running.output_file, null);
  const embedded = read({
    ...batch([]),
    response: { inlinedEmbedContentResponses: { inlinedResponses: [result({ promptTokenCount: 9 })] } },
  });
  assert.deepEqual([embedded.usage, embedded.tokens?.input_uncached], ["final", 9]);
});

test("results that were not all read, or lack their usage, are a lower bound", () => {
  const one = result({ promptTokenCount: 1, totalTokenCount: 1 });
  const many = read(batch(Array.from({ length: 200 }, () => one)));
  assert.deepEqual([many.usage, many.tokens?.input_uncached], ["partial", 128]);
  assert.ok(many.flags.includes("extra_cut_short"));
  const { usage, tokens } = read(batch([one, { response: { candidates: [] } }]));
  assert.deepEqual([usage, tokens?.input_uncached], ["partial", 1]);
});

test("a hostile service cannot make the record long", () => {
  const results = Array.from({ length: 100 }, (_, at) =>
    result({
      promptTokenCount: 1,
      promptTokensDetails: Array.from({ length: 30 }, (__, kind) => ({
        modality: `K${at}_${kind}`,
        tokenCount: 1,
      })),
      ...names(at * 60),
    }),
  );
  assert.ok(JSON.stringify(read(batch(results)).raw_usage).length < 4096);
});
