import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { ExtraTokens, Reading, Tokens } from "../../../src/core/usage/reading.ts";
import { grandTotal, maybeUnbilled } from "../../../src/core/usage/tokens.ts";
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
import type { CorpusFile, Expected } from "./corpus.ts";

/** What the corpus expects, and a record does not hold, or holds under another name on purpose. */
const NOT_JUDGED: Record<string, string> = {
  model: "the model that the answer names first; a record keeps the one that served, which is served_model",
  terminated: "whether message_stop came; a record's outcome says all that follows from it",
  background: "a record keeps what follows from it: usage pending, spend by response id",
  lower_bound: "the same as usage partial; judged by its own assertion",
  count: "an estimate that a token counting route gave; a record has no place for it",
};

/** The corpus has one word more than the ledger for each: a route without usage has an outcome of its own there. */
const OTHER_WORDS: Record<string, Record<string, string>> = {
  outcome: { "n/a": "completed" },
  usage_state: { estimate: "none" },
};

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

/** The reading under the corpus's names. */
function describe(reading: Reading): Expected {
  const { tokens } = reading;
  return {
    outcome: reading.outcome,
    stop: reading.stop,
    usage_state: reading.usage,
    spend_rule: reading.spend,
    lower_bound: reading.usage === "partial",
    response_id: reading.response_id,
    served_model: reading.model,
    service_tier: reading.service_tier,
    speed: reading.speed,
    inference_geo: reading.inference_geo,
    error_type: reading.error_type,
    tokens: tokens === null ? null : describeTokens(tokens),
    extra: reading.extra.map(describeExtra),
    grand_total: grandTotal(reading),
    maybe_unbilled: maybeUnbilled(reading),
    server_tools: reading.server_tools,
    raw_usage: reading.raw_usage,
    flags: reading.flags,
  };
}

function describeTokens({ output, ...tokens }: Tokens): Expected {
  return { ...tokens, output_total: output };
}

/** An extra set of the corpus has no lifetimes that its API does not know. */
function describeExtra({ output, cache_write_30m, cache_write_12h, ...extra }: ExtraTokens): Expected {
  assert.equal(cache_write_30m + cache_write_12h, 0);
  return { ...extra, output_total: output };
}

function assertAsExpected(reading: Reading, expected: Expected): void {
  const described = describe(reading);
  for (const [name, value] of Object.entries(expected)) {
    if (name in NOT_JUDGED && name !== "lower_bound") continue;
    const word = typeof value === "string" ? OTHER_WORDS[name]?.[value] : undefined;
    assert.deepEqual(described[name], word ?? value, name);
  }
}

function assertInvariants({ tokens, extra, usage, spend }: Reading): void {
  for (const set of [...extra, ...(tokens === null ? [] : [tokens])]) {
    const split = set.cache_write_5m + set.cache_write_1h + set.cache_write_30m + set.cache_write_12h;
    assert.equal(set.cache_write, split + set.cache_write_ttl_unknown);
    for (const value of Object.values(set)) {
      if (typeof value === "number") assert.ok(Number.isInteger(value) && value >= 0, `${value}`);
    }
  }
  assert.equal(tokens === null, usage !== "final" && usage !== "partial");
  if (tokens === null) return assert.notEqual(spend, "count");
  assert.equal(tokens.input_total, tokens.input_uncached + tokens.cache_read + tokens.cache_write);
  assert.equal(tokens.total, tokens.input_total + tokens.output);
  assert.ok((tokens.reasoning ?? 0) <= tokens.output);
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
