import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { jsonSetup, nonZeroCounts, readBody } from "../response-bodies.ts";
import { assertInvariants } from "../invariants.ts";
import { readUsage } from "./chat-bodies.ts";

interface Sent {
  P: number;
  C: number;
  T: number | null;
  R?: number;
  A?: number;
  K?: number;
  W?: number;
  /** Text and pictures of the input. */
  X?: number;
  I?: number;
}

function usageOf({ P, C, T, R, A, K, W, X, I }: Sent): object {
  return {
    prompt_tokens: P,
    completion_tokens: C,
    total_tokens: T,
    prompt_tokens_details: {
      cached_tokens: K,
      cache_write_tokens: W,
      audio_tokens: A,
      text_tokens: X,
      image_tokens: I,
    },
    completion_tokens_details: { reasoning_tokens: R },
  };
}

const UNDECIDED = ["total_mismatch", "negative_uncached", "cache_read_write_overlap", "undecided"];

const CASES: [what: string, Sent, counts: Record<string, number>, flags: string[]][] = [
  [
    "nothing unusual",
    { P: 10, C: 5, T: 15, R: 5, K: 4, W: 3 },
    { input_uncached: 3, cache_read: 4, cache_write: 3, output: 5, reasoning: 5 },
    [],
  ],
  [
    "reasoning outside the output",
    { P: 12, C: 1, T: 303, R: 290, K: 11 },
    { input_uncached: 1, cache_read: 11, output: 291, reasoning: 290 },
    ["reasoning_outside_output"],
  ],
  [
    "audio outside the prompt",
    { P: 10, C: 5, T: 22, A: 7 },
    { input_uncached: 17, output: 5 },
    ["prompt_excludes_audio"],
  ],
  [
    "the cache outside the prompt",
    { P: 10, C: 5, T: 75, K: 40, W: 20 },
    { input_uncached: 10, cache_read: 40, cache_write: 20, output: 5 },
    ["cache_outside_prompt"],
  ],
  [
    "a total above the sum",
    { P: 35, C: 12, T: 109 },
    { input_uncached: 35, output: 74 },
    ["total_exceeds_sum"],
  ],
  [
    "more reasoning than output",
    { P: 10, C: 5, T: 15, R: 6 },
    { input_uncached: 10, output: 5 },
    ["reasoning_exceeds_output"],
  ],
  [
    "more cached than prompt, which its kinds add up to",
    { P: 208, C: 27, T: 235, K: 314, X: 200, A: 5, I: 3 },
    { input_uncached: 208, output: 27 },
    ["cached_exceeds_prompt"],
  ],
  [
    "more cached than prompt, and a total that a gateway may have added up",
    { P: 50, C: 20, T: 70, K: 5_450 },
    { input_uncached: 50, output: 20 },
    ["cached_exceeds_prompt", "undecided"],
  ],
  [
    "more written than prompt, whose kinds add up to something else",
    { P: 50, C: 20, T: 70, W: 5_450, X: 40 },
    { input_uncached: 50, output: 20 },
    ["cached_exceeds_prompt", "undecided"],
  ],
  [
    "more reasoning than output without a total",
    { P: 10, C: 5, T: null, R: 60 },
    { input_uncached: 10, output: 5 },
    ["reasoning_exceeds_output", "undecided"],
  ],
  [
    "the same tokens read and written",
    { P: 10, C: 5, T: 15, K: 8, W: 9 },
    { input_uncached: 2, cache_read: 8, output: 5 },
    ["cache_read_write_overlap"],
  ],
  [
    "a total below the sum",
    { P: 10, C: 5, T: 12, K: 4 },
    { input_uncached: 6, cache_read: 4, output: 5 },
    ["total_mismatch"],
  ],
  [
    "more cached than prompt without a total",
    { P: 10, C: 5, T: null, K: 40 },
    { input_uncached: 10, cache_read: 40, output: 5 },
    ["negative_uncached"],
  ],
];

for (const [what, sent, counts, flags] of CASES) {
  test(`a usage object with ${what} is resolved by its total`, () => {
    const reading = readUsage(usageOf(sent));
    const { cache_write_ttl_unknown: _unknown, ...found } = nonZeroCounts(reading);
    assert.deepEqual(found, counts);
    const isDecided = !flags.some((flag) => UNDECIDED.includes(flag));
    assert.deepEqual([reading.usage, reading.flags], [isDecided ? "final" : "partial", flags]);
  });
}

test("of several explanations of a total the first in the documented order counts", () => {
  const reading = readUsage(usageOf({ P: 10, C: 5, T: 22, R: 7, A: 7, K: 7 }));
  assert.deepEqual(reading.flags, ["reasoning_outside_output"]);
  assert.deepEqual(readUsage(usageOf({ P: 10, C: 5, T: 22, A: 7, K: 7 })).flags, ["prompt_excludes_audio"]);
});

test("whatever a service sends, a total that covers prompt and completion is the total of the record", () => {
  const count = fc.nat(50);
  const sent = fc.record({ P: count, C: count, T: fc.nat(200), R: count, A: count, K: count, W: count });
  fc.assert(
    fc.property(sent, ({ T, ...parts }) => {
      const reading = readUsage(usageOf({ ...parts, T }));
      assertInvariants(reading);
      const sum = parts.P + parts.C;
      assert.equal(reading.tokens?.total, Math.max(T, sum));
      assert.equal(reading.flags.includes("total_mismatch"), T < sum);
      const fits = parts.K + parts.W <= (reading.tokens?.input_total ?? 0);
      assert.equal(reading.usage, T >= sum && fits ? "final" : "partial");
    }),
    { numRuns: 2_000 },
  );
});

const CACHE_NAMES: [who: string, usage: object, counts: Record<string, number>][] = [
  [
    "DeepSeek",
    { prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 4 },
    { input_uncached: 4, cache_read: 6 },
  ],
  ["Together", { prompt_tokens: 10, cached_tokens: 6 }, { input_uncached: 4, cache_read: 6 }],
  ["Mistral", { prompt_tokens: 10, num_cached_tokens: 6 }, { input_uncached: 4, cache_read: 6 }],
  [
    "Databricks",
    { prompt_tokens: 10, cache_read_input_tokens: 6, cache_creation_input_tokens: 3 },
    { input_uncached: 1, cache_read: 6, cache_write: 3 },
  ],
];

for (const [who, usage, counts] of CACHE_NAMES) {
  test(`reads the cache under the names of ${who}`, () => {
    const { cache_write_ttl_unknown: _unknown, ...found } = nonZeroCounts(
      readUsage({ ...usage, completion_tokens: 5 }),
    );
    assert.deepEqual(found, { ...counts, output: 5 });
  });
}

test("embeddings have input only, even where the service sends nothing but a total", () => {
  for (const usage of [{ prompt_tokens: 8, total_tokens: 8 }, { total_tokens: 8 }, { prompt_tokens: 8 }]) {
    const numbers = Array.from({ length: 20_000 }, (_, i) => i / 7);
    const body = { object: "list", data: [{ embedding: numbers }], model: "e", usage };
    const reading = readBody(body, jsonSetup({ dialect: "chat" }));
    assert.deepEqual([reading.outcome, reading.usage, reading.spend], ["completed", "final", "count"]);
    assert.deepEqual(nonZeroCounts(reading), { input_uncached: 8 });
  }
});

test("a chat completion with nothing but a total has a lower bound", () => {
  const reading = readUsage({ total_tokens: 8 });
  assert.deepEqual([reading.usage, reading.tokens?.total], ["partial", 8]);
});

test("timings of llama.cpp count where there is no usage, and are exact only if they say what came from the cache", () => {
  const timings = { prompt_n: 1, predicted_n: 35, predicted_ms: 661.064 };
  const exact = readUsage({}, { usage: null, timings: { ...timings, cache_n: 236 } });
  assert.deepEqual(nonZeroCounts(exact), { input_uncached: 1, cache_read: 236, output: 35 });
  assert.deepEqual([exact.usage, exact.flags, exact.raw_usage], ["final", ["usage_from_timings"], null]);
  assert.equal(readUsage({}, { usage: null, timings }).usage, "partial");
  const both = readUsage(
    { prompt_tokens: 3, completion_tokens: 2 },
    { timings: { ...timings, cache_n: 236 } },
  );
  assert.deepEqual([nonZeroCounts(both), both.flags], [{ input_uncached: 3, output: 2 }, []]);
});
