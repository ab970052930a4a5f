// Usage of images and audio: OpenAI's API reference has these shapes (docs/wire.md section 7).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import { assertInvariants } from "./invariants.ts";
import { jsonSetup, nonZeroCounts, readBody, setup, stream } from "./response-bodies.ts";

const MEDIA: Partial<MeterSetup> = { dialect: "media" };

const IMAGE_USAGE = {
  input_tokens: 50,
  input_tokens_details: { image_tokens: 40, text_tokens: 10 },
  output_tokens: 4_160,
  total_tokens: 4_210,
};

const TRANSCRIPT_USAGE = {
  type: "tokens",
  input_tokens: 14,
  input_token_details: { text_tokens: 0, audio_tokens: 14 },
  output_tokens: 45,
  total_tokens: 59,
};

test("an image's usage has tokens, whatever the picture's size", () => {
  const reading = readBody(
    { created: 1, data: [{ b64_json: "A".repeat(300_000) }], usage: IMAGE_USAGE },
    jsonSetup(MEDIA),
  );
  assertInvariants(reading);
  assert.deepEqual([reading.outcome, reading.usage, reading.spend], ["completed", "final", "count"]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 50, output: 4_160 });
  assert.deepEqual(reading.raw_usage, IMAGE_USAGE);
});

for (const [what, body] of [
  ["a response without a picture", { created: 1, data: [{ b64_json: null }] }],
  ["a transcript without usage", { text: "hello" }],
  ["a usage of null", { text: "hello", usage: null }],
  ["a usage of nothing", { text: "hello", usage: {} }],
] as const)
  test(`${what} is of unknown cost, not free`, () => {
    const reading = readBody(body, jsonSetup(MEDIA));
    assert.deepEqual([reading.outcome, reading.usage, reading.tokens], ["completed", "absent", null]);
    assert.deepEqual(reading.flags, []);
  });

for (const [what, body] of [
  [
    "addresses",
    {
      created: 1,
      data: [{ url: "https://x.example/1.png", b64_json: null }, { url: "https://x.example/2.png" }],
    },
  ],
  [
    "base64",
    { created: 1, data: [{ b64_json: "A".repeat(300_000) }, { b64_json: "AAAA", revised_prompt: "x" }] },
  ],
] as const)
  test(`pictures that come without usage are counted: ${what}`, () => {
    const reading = readBody(body, jsonSetup(MEDIA));
    assertInvariants(reading);
    assert.deepEqual(
      [reading.outcome, reading.usage, reading.spend, reading.tokens, reading.server_tools],
      ["completed", "none", "count", null, { picture: 2 }],
    );
    const cut = readBody(JSON.stringify(body).slice(0, -1), jsonSetup(MEDIA), false);
    assert.deepEqual([cut.outcome, cut.usage, cut.server_tools], ["cut", "absent", {}]);
  });

test("a transcript's usage has tokens of sound", () => {
  const reading = readBody({ text: "hello", usage: TRANSCRIPT_USAGE }, jsonSetup(MEDIA));
  assert.deepEqual([reading.usage, nonZeroCounts(reading)], ["final", { input_uncached: 14, output: 45 }]);
});

test("seconds are no tokens: they are kept as the service says, and the cost is unknown", () => {
  const usage = { type: "duration", seconds: 61 };
  const reading = readBody({ text: "hello", usage }, jsonSetup(MEDIA));
  assert.deepEqual([reading.usage, reading.tokens, reading.raw_usage], ["absent", null, usage]);
  assert.deepEqual(reading.flags, []);
});

for (const [last, usage, before] of [
  ["image_generation.completed", IMAGE_USAGE, { type: "image_generation.partial_image", b64_json: "AAAA" }],
  ["image_edit.completed", IMAGE_USAGE, { type: "image_edit.partial_image", b64_json: "AAAA" }],
  [
    "speech.audio.done",
    { input_tokens: 14, output_tokens: 101, total_tokens: 115 },
    { type: "speech.audio.delta", audio: "AAAA" },
  ],
  ["transcript.text.done", TRANSCRIPT_USAGE, { type: "transcript.text.delta", delta: "I see" }],
] as const) {
  test(`a stream that ends with ${last} has its usage, and one that does not is cut`, () => {
    const whole = readBody(stream([before, { type: last, usage }]), setup(MEDIA));
    assertInvariants(whole);
    assert.deepEqual(
      [whole.outcome, whole.usage, whole.tokens?.total],
      ["completed", "final", usage.total_tokens],
    );
    const cut = readBody(stream([before]), setup(MEDIA));
    assert.deepEqual([cut.outcome, cut.usage, cut.tokens], ["cut", "absent", null]);
  });
}

test("an error in a stream, or with status 200, is an error with its code", () => {
  const error = { type: "image_generation_user_error", code: "moderation_blocked", message: "No." };
  for (const reading of [
    readBody(stream([{ type: "error", error }]), setup(MEDIA)),
    readBody({ error }, jsonSetup(MEDIA)),
  ])
    assert.deepEqual(
      [reading.outcome, reading.error_type, reading.tokens],
      ["error", "moderation_blocked", null],
    );
});

for (const contentType of ["audio/mpeg", "audio/wav", "text/plain; charset=utf-8", "text/vtt"])
  test(`a body of ${contentType} is the medium itself: of unknown cost, and no faulty JSON`, () => {
    const reading = readBody(
      '{"usage":{"input_tokens":1,"output_tokens":1}}'.repeat(3),
      setup({ ...MEDIA, contentType }),
    );
    assert.deepEqual(
      [reading.outcome, reading.usage, reading.tokens, reading.flags],
      ["completed", "absent", null, []],
    );
  });
