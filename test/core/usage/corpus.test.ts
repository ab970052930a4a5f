import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import {
  CORPUS_MISSING,
  createRandom,
  listCorpus,
  meterChunks,
  randomPieces,
  readBody,
  setupOf,
  singleBytes,
} from "./corpus.ts";
import type { CorpusFile } from "./corpus.ts";
import { assertAsExpected } from "./expectation.ts";
import { assertInvariants } from "./invariants.ts";

/** The bodies' bytes, judged by a test of each; says loudly what cannot be read. */
function eachBody(name: string, judge: (file: CorpusFile, body: Buffer) => void): void {
  test(name, async (t) => {
    if (CORPUS_MISSING !== null) return skip(t, CORPUS_MISSING);
    for (const file of listCorpus()) {
      await t.test(file.file, (single) => {
        const body = readBody(file);
        if (body === null) return skip(single, `this Node cannot decode ${file.content_encoding}`);
        judge(file, body);
      });
    }
  });
}

function skip(t: TestContext, reason: string): void {
  t.diagnostic(reason);
  t.skip(reason);
}

const LAST_WORD = /"type": ?"(message_delta|response\.(completed|incomplete|failed))"/;

function isStream({ content_type }: CorpusFile): boolean {
  return content_type.startsWith("text/event-stream");
}

eachBody("a recorded body in one chunk is read as the corpus expects", (file, body) => {
  const reading = meterChunks(setupOf(file), [body]);
  assertAsExpected(reading, file.expected);
  assertInvariants(reading);
});

eachBody("a recorded body is read the same byte by byte", (file, body) => {
  assert.deepEqual(meterChunks(setupOf(file), singleBytes(body)), meterChunks(setupOf(file), [body]));
});

eachBody("a recorded body is read the same in pieces of random length", (file, body) => {
  const whole = meterChunks(setupOf(file), [body]);
  for (let seed = 1; seed <= 12; seed++) {
    const pieces = randomPieces(body, 4 ** (1 + (seed % 6)), createRandom(seed));
    assert.deepEqual(meterChunks(setupOf(file), pieces), whole, `seed ${seed}`);
  }
});

for (const [name, ending] of [
  ["CRLF", "\r\n"],
  ["CR", "\r"],
] as const) {
  eachBody(`a recorded stream is read the same with ${name} at the end of its lines`, (file, body) => {
    if (!isStream(file)) return;
    const other = Buffer.from(body.toString("latin1").replace(/\r?\n/g, ending), "latin1");
    const whole = meterChunks(setupOf(file), [body]);
    assert.deepEqual(meterChunks(setupOf(file), [other]), whole);
    assert.deepEqual(meterChunks(setupOf(file), singleBytes(other)), whole);
    assert.deepEqual(meterChunks(setupOf(file), randomPieces(other, 100, createRandom(1))), whole);
  });
}

eachBody(
  "a recorded body that is cut anywhere claims to be final only when its last word was said",
  (file, body) => {
    const random = createRandom(body.length);
    const whole = meterChunks(setupOf(file), [body]);
    const end = wordEnd(file, body);
    for (let cut = 0; cut < 50; cut++) {
      const length = Math.floor(random() * (body.length + 1));
      const part = body.subarray(0, length);
      const reading = meterChunks(setupOf(file), [part], false);
      assertInvariants(reading);
      if (length < end) assert.notEqual(reading.usage, "final", `cut at ${length}`);
      else if (whole.usage === "final") assert.deepEqual(reading.tokens, whole.tokens, `cut at ${length}`);
      assert.deepEqual(meterChunks(setupOf(file), randomPieces(part, 64, random), false), reading);
    }
  },
);

/** Where the event that says the final usage has all its JSON, or the document has. */
function wordEnd(file: CorpusFile, body: Buffer): number {
  const text = body.toString("latin1");
  const events = isStream(file) ? text.matchAll(/(?:.+\r?\n?)+/g) : [Object.assign([text], { index: 0 })];
  const last = [...events].findLast(([event]) => !isStream(file) || LAST_WORD.test(event));
  return last === undefined ? Infinity : last.index + last[0].lastIndexOf("}") + 1;
}
