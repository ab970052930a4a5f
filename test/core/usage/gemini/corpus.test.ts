import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom, meterChunks, randomPieces, singleBytes } from "../corpus.ts";
import { assertInvariants } from "../invariants.ts";
import type { MeterReading } from "../../../../src/core/usage/reading.ts";
import {
  GEMINI_MISSING,
  assertAsExpected,
  geminiSetup,
  isEventStream,
  listGemini,
  readGemini,
  wasBroken,
  type GeminiFile,
} from "./gemini-corpus.ts";

/** Runs a subtest for each body. Skips with a diagnostic when they are missing. */
function eachBody(name: string, check: (file: GeminiFile, body: Buffer) => void): void {
  test(name, async (t) => {
    if (GEMINI_MISSING !== null) {
      t.diagnostic(GEMINI_MISSING);
      return t.skip(GEMINI_MISSING);
    }
    for (const file of listGemini()) await t.test(file.file, () => check(file, readGemini(file)));
  });
}

function meterWhole(file: GeminiFile, chunks: Iterable<Buffer>): MeterReading {
  return meterChunks(geminiSetup(file), chunks, !wasBroken(file));
}

eachBody("reads a body of Google's API in one chunk as the corpus expects", (file, body) => {
  const reading = meterWhole(file, [body]);
  assertAsExpected(reading, file);
  assertInvariants(reading);
});

eachBody("reads a body of Google's API byte by byte as it does in one chunk", (file, body) => {
  assert.deepEqual(meterWhole(file, singleBytes(body)), meterWhole(file, [body]));
});

eachBody("reads a body of Google's API in chunks of random length as it does in one chunk", (file, body) => {
  const whole = meterWhole(file, [body]);
  for (let seed = 1; seed <= 12; seed++) {
    const pieces = randomPieces(body, 4 ** (1 + (seed % 6)), createRandom(seed));
    assert.deepEqual(meterWhole(file, pieces), whole, `seed ${seed}`);
  }
});

for (const [name, ending] of [
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"],
] as const) {
  eachBody(`reads a body of Google's API with ${name} line endings as it does with its own`, (file, body) => {
    // Bodies that are no event stream have other line endings as white space.
    const other = Buffer.from(body.toString("latin1").replace(/\r?\n/g, ending), "latin1");
    const whole = meterWhole(file, [body]);
    assert.deepEqual(meterWhole(file, [other]), whole);
    assert.deepEqual(meterWhole(file, singleBytes(other)), whole);
    assert.deepEqual(meterWhole(file, randomPieces(other, 100, createRandom(1))), whole);
  });
}

eachBody("calls no usage final when a body of Google's API was cut anywhere", (file, body) => {
  const random = createRandom(body.length);
  const whole = meterWhole(file, [body]);
  const step = body.length > 4_000 ? 61 : 7;
  const ending = isEventStream(file) ? 0 : body.length - body.toString("latin1").trimEnd().length;
  for (let length = 0; length < body.length - ending; length += step) {
    const part = body.subarray(0, length);
    const reading = meterChunks(geminiSetup(file), [part], false);
    assertInvariants(reading);
    // Only an interaction has a last event, which tells that nothing is missing.
    if (whole.stop !== "completed") assert.notEqual(reading.usage, "final", `cut at ${length}`);
    else if (reading.usage === "final") assert.deepEqual(reading.tokens, whole.tokens, `cut at ${length}`);
    assert.ok((reading.tokens?.total ?? 0) <= (whole.tokens?.total ?? 0) || isEventStream(file));
    assert.deepEqual(meterChunks(geminiSetup(file), randomPieces(part, 64, random), false), reading);
  }
});
