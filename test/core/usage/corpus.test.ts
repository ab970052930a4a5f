import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  CORPUS_MISSING,
  createRandom,
  listCorpus,
  meterChunks,
  randomPieces,
  readBody,
  setupOf,
  singleBytes,
  wasBroken,
  type CorpusFile,
} from "./corpus.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { assertAsExpected } from "./expectation.ts";
import { assertInvariants } from "./invariants.ts";

/** Runs a subtest for each recorded body. Skips with a diagnostic when they are missing. */
function eachBody(name: string, check: (file: CorpusFile, body: Buffer) => void): void {
  test(name, async (t) => {
    if (CORPUS_MISSING !== null) return skip(t, CORPUS_MISSING);
    for (const file of listCorpus()) {
      await t.test(file.file, () => check(file, readBody(file)));
    }
  });
}

function skip(t: TestContext, reason: string): void {
  t.diagnostic(reason);
  t.skip(reason);
}

const FINAL_EVENT = /"type": ?"(message_delta|response\.(completed|incomplete|failed))"/;

/** Reads a whole recorded body that arrives in these chunks. */
function meterWhole(file: CorpusFile, chunks: Iterable<Buffer>): MeterReading {
  return meterChunks(setupOf(file), chunks, !wasBroken(file));
}

function isStream({ content_type }: CorpusFile): boolean {
  return content_type.startsWith("text/event-stream");
}

eachBody("reads a recorded body in one chunk as the corpus expects", (file, body) => {
  const reading = meterWhole(file, [body]);
  assertAsExpected(reading, file.expected);
  assertInvariants(reading);
});

eachBody("reads a recorded body byte by byte as it does in one chunk", (file, body) => {
  assert.deepEqual(meterWhole(file, singleBytes(body)), meterWhole(file, [body]));
});

eachBody("reads a recorded body in chunks of random length as it does in one chunk", (file, body) => {
  const whole = meterWhole(file, [body]);
  for (let seed = 1; seed <= 12; seed++) {
    const pieces = randomPieces(body, 4 ** (1 + (seed % 6)), createRandom(seed));
    assert.deepEqual(meterWhole(file, pieces), whole, `seed ${seed}`);
  }
});

for (const [name, ending] of [
  ["CRLF", "\r\n"],
  ["CR", "\r"],
] as const) {
  eachBody(
    `reads a recorded stream with ${name} line endings as it does with the recorded ones`,
    (file, body) => {
      if (!isStream(file)) return;
      const other = Buffer.from(body.toString("latin1").replace(/\r?\n/g, ending), "latin1");
      const whole = meterWhole(file, [body]);
      assert.deepEqual(meterWhole(file, [other]), whole);
      assert.deepEqual(meterWhole(file, singleBytes(other)), whole);
      assert.deepEqual(meterWhole(file, randomPieces(other, 100, createRandom(1))), whole);
    },
  );
}

eachBody("reports final usage for a truncated body only when its final counts had arrived", (file, body) => {
  if (file.api === "chat") return;
  const random = createRandom(body.length);
  const whole = meterWhole(file, [body]);
  const end = finalUsageEnd(file, body);
  for (let cut = 0; cut < 50; cut++) {
    const length = Math.floor(random() * (body.length + 1));
    const part = body.subarray(0, length);
    const reading = meterChunks(setupOf(file), [part], false);
    assertInvariants(reading);
    if (length < end) assert.notEqual(reading.usage, "final", `cut at ${length}`);
    else if (whole.usage === "final") assert.deepEqual(reading.tokens, whole.tokens, `cut at ${length}`);
    assert.deepEqual(meterChunks(setupOf(file), randomPieces(part, 64, random), false), reading);
  }
});

/** Returns the offset where the JSON of the event with the final usage ends, or that of the document. */
function finalUsageEnd(file: CorpusFile, body: Buffer): number {
  const text = body.toString("latin1");
  const events = isStream(file) ? text.matchAll(/(?:.+\r?\n?)+/g) : [Object.assign([text], { index: 0 })];
  const last = [...events].findLast(([event]) => !isStream(file) || FINAL_EVENT.test(event));
  return last === undefined ? Infinity : last.index + last[0].lastIndexOf("}") + 1;
}
