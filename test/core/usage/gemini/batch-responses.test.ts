// The file with the responses of one of Google's batches: a line for each request (docs/wire.md section 13).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterSetup } from "../../../../src/core/usage/meter.ts";
import { meterChunks } from "../corpus.ts";
import { assertInvariants } from "../invariants.ts";
import { jsonSetup, nonZeroCounts, readBody } from "../response-bodies.ts";

const FILE: Partial<MeterSetup> = {
  dialect: "batch_responses",
  spend: "attach_by_response_id",
  contentType: "application/jsonl",
};

const PRO = "gemini-2.5-pro";

const succeeded = (key: string, usageMetadata: object, more: object = {}) =>
  JSON.stringify({
    key,
    response: {
      candidates: [{ content: { parts: [{ text: 'a\nb {"usageMetadata": 1}' }] }, finishReason: "STOP" }],
      usageMetadata,
      modelVersion: PRO,
      ...more,
    },
  });

const failed = JSON.stringify({ key: "f", error: { code: 3, message: "no", status: "INVALID_ARGUMENT" } });

const used = (prompt: number, output: number, more: object = {}) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: output,
  totalTokenCount: prompt + output,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
  ...more,
});

const read = (lines: readonly string[]) =>
  readBody(lines.map((line) => `${line}\n`).join(""), jsonSetup(FILE));

test("each line's usage is read by its own arithmetic; prompts on both sides of a limit are kept apart", () => {
  const lines = [
    succeeded("a", { ...used(100, 7), thoughtsTokenCount: 3, totalTokenCount: 110 }),
    failed,
    succeeded("b", used(250_000, 5)),
    succeeded("c", used(50, 1)),
  ];
  const reading = read(lines);
  assertInvariants(reading);
  assert.deepEqual(
    [reading.outcome, reading.usage, reading.spend, reading.model, reading.service_tier],
    ["completed", "final", "attach_by_response_id", PRO, "batch"],
  );
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 150, output: 11 });
  assert.deepEqual(
    reading.extra.map(({ type, input_uncached: input, output, smallest_prompt: size }) => [
      type,
      input,
      output,
      size,
    ]),
    [["batch", 250_000, 5, 250_000]],
  );
  assert.deepEqual([reading.smallest_prompt, reading.largest_prompt], [50, 100]);
  const whole = Buffer.from(lines.join("\r\n"));
  for (const size of [1, 13, 4_096]) {
    const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    );
    assert.deepEqual(meterChunks(jsonSetup(FILE), chunks).tokens, reading.tokens);
  }
});

test("sound and pictures have prices of their own, so their kinds are kept", () => {
  const heard = used(30, 2, {
    promptTokensDetails: [
      { modality: "AUDIO", tokenCount: 20 },
      { modality: "TEXT", tokenCount: 10 },
    ],
  });
  const reading = read([succeeded("a", heard), succeeded("b", used(5, 1))]);
  assertInvariants(reading);
  assert.deepEqual([reading.usage, reading.extra.length], ["final", 0]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 35, output: 3 });
  assert.deepEqual(reading.raw_usage?.["promptTokensDetails"], [
    { modality: "AUDIO", tokenCount: 20 },
    { modality: "TEXT", tokenCount: 15 },
  ]);
  assert.deepEqual([reading.smallest_prompt, reading.largest_prompt, reading.service_tier], [5, 30, "batch"]);
});

function searched(model: string) {
  const candidates = [{ groundingMetadata: { webSearchQueries: ["a", "b"] } }];
  return read([
    succeeded("a", used(5, 1), { candidates, modelVersion: model }),
    succeeded("b", used(5, 1), { candidates, modelVersion: model }),
  ]).server_tools;
}

test("searches are charged once for each prompt by older models, and one by one by later ones", () => {
  assert.deepEqual(searched(PRO), { web_search: 2 });
  assert.deepEqual(searched("gemini-3.5-flash"), { web_search: 4 });
});

test("what the service's tools fed back makes the size of a prompt unknown", () => {
  const looped = { ...used(100, 7), toolUsePromptTokenCount: 300_000, totalTokenCount: 300_107 };
  const { smallest_prompt: least, largest_prompt: most } = read([succeeded("a", looped)]);
  assert.deepEqual([least, most], [0, 300_100]);
});

test("a file that was cut, or has a line without usage or model, is no whole", () => {
  for (const lines of [
    [succeeded("a", used(5, 1)), succeeded("b", {})],
    [succeeded("a", used(5, 1)), succeeded("b", used(5, 1), { modelVersion: undefined })],
  ])
    assert.equal(read(lines).usage, "partial");
  const cut = readBody(`${succeeded("a", used(5, 1))}\n`, jsonSetup(FILE), false);
  assert.deepEqual([cut.outcome, cut.usage, cut.tokens?.input_uncached], ["cut", "partial", 5]);
  const part = readBody(`${succeeded("a", used(5, 1))}\n`, { ...jsonSetup(FILE), status: 206 });
  assert.deepEqual([part.usage, part.tokens], ["absent", null]);
  assert.equal(read(["no JSON"]).flags.includes("bad_json"), true);
});
