import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { DONE, chunk, readChunks, readUsage } from "./chat/chat-bodies.ts";
import { messageEvents, nonZeroCounts, readBody, readUsages, setup, stream } from "./response-bodies.ts";
import { assertInvariants } from "./invariants.ts";

// What is done with each contradiction is in docs/wire.md, section 9. The figures are those of public reports where one is named.

const FALLS: [
  what: string,
  usages: object[],
  counts: Record<string, number>,
  flag: string,
  earlier: unknown,
][] = [
  [
    "a zero in place of the input, beside a cache read of the start",
    [
      { input_tokens: 40_000, cache_read_input_tokens: 5, output_tokens: 1 },
      { input_tokens: 0, output_tokens: 90 },
    ],
    { input_uncached: 40_000, cache_read: 5, output: 90 },
    "delta_zero_placeholder",
    undefined,
  ],
  [
    "zeros in place of the whole input (sgl-project/sglang#20830, envoyproxy/ai-gateway#1631)",
    [
      { input_tokens: 15, output_tokens: 1 },
      { input_tokens: 0, output_tokens: 9 },
    ],
    { input_uncached: 15, output: 9 },
    "delta_zero_placeholder",
    undefined,
  ],
  [
    "a zero in place of the output",
    [{ input_tokens: 10, output_tokens: 1 }, { output_tokens: 7_700 }, { output_tokens: 0 }],
    { input_uncached: 10, output: 7_700 },
    "delta_zero_placeholder",
    undefined,
  ],
  [
    "less input than before",
    [
      { input_tokens: 233_535, output_tokens: 1 },
      { input_tokens: 89_828, output_tokens: 500 },
    ],
    { input_uncached: 89_828, output: 500 },
    "counts_fell",
    { input_tokens: 233_535 },
  ],
  [
    "less output than before",
    [
      { input_tokens: 10, output_tokens: 1 },
      { output_tokens: 90 },
      { output_tokens: 40 },
      { output_tokens: 60 },
    ],
    { input_uncached: 10, output: 60 },
    "counts_fell",
    { output_tokens: 90 },
  ],
  [
    "another input without the cache, and without the list of a compaction",
    [
      { input_tokens: 100, cache_read_input_tokens: 55_096, output_tokens: 1 },
      { input_tokens: 181, cache_read_input_tokens: 0, output_tokens: 5 },
    ],
    { input_uncached: 181, output: 5 },
    "counts_fell",
    { cache_read_input_tokens: 55_096 },
  ],
];

for (const [what, usages, counts, flag, earlier] of FALLS) {
  test(`Messages: ${what} is flagged and never exact, and both figures are kept`, () => {
    const reading = readUsages(usages);
    assert.deepEqual([nonZeroCounts(reading), reading.flags], [counts, [flag]]);
    assert.deepEqual([reading.outcome, reading.usage, reading.spend], ["completed", "partial", "count"]);
    assert.deepEqual(reading.raw_usage?.["earlier"], earlier);
  });
}

const NO_FALLS: [what: string, usages: object[]][] = [
  [
    "input that moves to the cache (maximhq/bifrost#5510)",
    [{ input_tokens: 173_306 }, { input_tokens: 250, cache_read_input_tokens: 173_056, output_tokens: 40 }],
  ],
  ["output below that of the start", [{ input_tokens: 10, output_tokens: 88 }, { output_tokens: 40 }]],
  [
    "a compaction, which lists iterations",
    [
      { input_tokens: 100, cache_read_input_tokens: 55_096, output_tokens: 1 },
      { input_tokens: 181, cache_read_input_tokens: 0, output_tokens: 40, iterations: [{ type: "message" }] },
    ],
  ],
  ["input that a tool loop adds", [{ input_tokens: 2_068 }, { input_tokens: 22_397, output_tokens: 40 }]],
];

for (const [what, usages] of NO_FALLS) {
  test(`Messages: ${what} is no contradiction`, () => {
    const reading = readUsages(usages);
    assert.deepEqual([reading.usage, reading.flags], ["final", []]);
    assert.equal(reading.raw_usage?.["earlier"], undefined);
  });
}

test("Messages: another message that replaces the first contradicts nothing of it", () => {
  const first = messageEvents([{ input_tokens: 9_000 }, { input_tokens: 4, output_tokens: 5 }]);
  const second = messageEvents([{ input_tokens: 7 }, { output_tokens: 2 }]);
  const message = { id: "msg_2", model: "m", usage: { input_tokens: 7 } };
  const events = [...first.slice(0, 2), { type: "message_start", message }, ...second.slice(1)];
  const reading = readBody(stream(events), setup());
  assert.deepEqual([nonZeroCounts(reading), reading.usage], [{ input_uncached: 7, output: 2 }, "final"]);
  assert.deepEqual(reading.flags, ["duplicate_message_start"]);
});

const usage = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

test("Chat Completions: zeros after counts are filler, and the counts are not exact", () => {
  const parts = [
    chunk({ content: "a" }, null, { usage: usage(1_000, 500) }),
    chunk({}, "stop", { usage: usage(0, 0) }),
    DONE,
  ];
  const reading = readChunks(parts);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 1_000, output: 500 });
  assert.deepEqual([reading.outcome, reading.usage], ["completed", "partial"]);
  assert.deepEqual(reading.flags, ["delta_zero_placeholder"]);
});

test("Chat Completions: a count that falls is kept beside the later one, and the counts are not exact", () => {
  const parts = [
    chunk({ content: "a" }, null, { usage: usage(1_000, 1_500) }),
    { choices: [], usage: usage(1_000, 900) },
    DONE,
  ];
  const reading = readChunks(parts);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 1_000, output: 900 });
  assert.deepEqual(
    [reading.outcome, reading.usage, reading.flags],
    ["completed", "partial", ["counts_fell"]],
  );
  assert.deepEqual(reading.raw_usage?.["earlier"], { completion_tokens: 1_500, total_tokens: 2_500 });
});

test("Chat Completions: zeros before the counts are known are no contradiction (router-for-me/CLIProxyAPI#3077)", () => {
  const parts = [
    chunk({ content: "a" }, null, { usage: usage(0, 0) }),
    { choices: [], usage: usage(12, 3) },
    DONE,
  ];
  const reading = readChunks(parts);
  assert.deepEqual([nonZeroCounts(reading), reading.usage], [{ input_uncached: 12, output: 3 }, "final"]);
  assert.deepEqual(reading.flags, []);
});

const OTHER_NAMES: [who: string, usage: object, counts: Record<string, number>, flags: string[]][] = [
  [
    "the Responses API (Blaizzy/mlx-vlm#1009)",
    { input_tokens: 1_000, output_tokens: 5_000, total_tokens: 6_000 },
    { input_uncached: 1_000, output: 5_000 },
    ["openai_names"],
  ],
  [
    "the Responses API, with its details",
    {
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 400 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
    },
    { input_uncached: 600, cache_read: 400, output: 50, reasoning: 20 },
    ["openai_names"],
  ],
  [
    "the Messages API, whose input excludes the cache",
    { input_tokens: 30, cache_read_input_tokens: 400, output_tokens: 5 },
    { input_uncached: 30, cache_read: 400, output: 5 },
    ["openai_names", "cache_outside_prompt"],
  ],
  [
    "both, the API's own with zeros (QuantumNous/new-api)",
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 17, input_tokens: 12, output_tokens: 5 },
    { input_uncached: 12, output: 5 },
    ["openai_names"],
  ],
  [
    "both, the other's with zeros (QuantumNous/new-api)",
    { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17, input_tokens: 0, output_tokens: 0 },
    { input_uncached: 12, output: 5 },
    [],
  ],
  [
    "Gemini, whose total has the thoughts besides",
    { promptTokenCount: 21, candidatesTokenCount: 4, thoughtsTokenCount: 60, totalTokenCount: 85 },
    { input_uncached: 21, output: 64, reasoning: 60 },
    ["openai_names", "reasoning_outside_output"],
  ],
  [
    "Amazon Bedrock, whose total has the cache besides",
    { inputTokens: 10, outputTokens: 4, totalTokens: 114, cacheReadInputTokens: 100 },
    { input_uncached: 10, cache_read: 100, output: 4 },
    ["openai_names", "cache_outside_prompt"],
  ],
  [
    "Ollama (JohnnyZ93/oai-compatible-copilot#198)",
    { prompt_eval_count: 26, eval_count: 259, eval_duration: 4_709_213_000 },
    { input_uncached: 26, output: 259 },
    ["openai_names"],
  ],
];

for (const [who, sent, counts, flags] of OTHER_NAMES) {
  test(`Chat Completions: reads the names of ${who}`, () => {
    const reading = readUsage(sent);
    assert.deepEqual([nonZeroCounts(reading), reading.flags], [counts, flags]);
    assert.equal(reading.usage, "final");
    const streamed = readChunks([chunk({ content: "a" }, "stop"), { choices: [], usage: sent }]);
    assert.deepEqual([nonZeroCounts(streamed), streamed.usage], [counts, "final"]);
  });
}

test("names that say nothing of what they count are not read", () => {
  assert.equal(readUsage({ queue_time: 3, cost: 1, tokens: 7, prompt_price: 5 }).tokens, null);
});

test("Messages: reads the input under the names of Chat Completions where the API's own are zeros", () => {
  const sent = { input_tokens: 0, output_tokens: 7, prompt_tokens: 500, completion_tokens: 7 };
  const reading = readUsages([{}, sent]);
  assert.deepEqual(
    [nonZeroCounts(reading), reading.flags],
    [{ input_uncached: 500, output: 7 }, ["openai_names"]],
  );
  const cached = { ...sent, cache_read_input_tokens: 500 };
  assert.deepEqual(nonZeroCounts(readUsages([{}, cached])), { cache_read: 500, output: 7 });
});

test("whatever the counts of a stream do, its usage is exact only if none of them ever fell", () => {
  const count = fc.nat(3);
  const sent = fc.record({ prompt_tokens: count, completion_tokens: count });
  fc.assert(
    fc.property(fc.array(sent, { minLength: 1, maxLength: 4 }), (usages) => {
      const reading = readChunks([...usages.map((one) => ({ choices: [], usage: one })), DONE]);
      assertInvariants(reading);
      const hasFallen = (["prompt_tokens", "completion_tokens"] as const).some((name) =>
        usages.some(
          (one, i) => i > 0 && one[name] < Math.max(...usages.slice(0, i).map((before) => before[name])),
        ),
      );
      assert.equal(reading.usage, hasFallen ? "partial" : "final");
    }),
  );
});

test("Chat Completions: of two usage objects in one chunk the one that counts something is read", () => {
  const counted = usage(12, 3);
  for (const more of [
    { usage: usage(0, 0), x_groq: { usage: counted } },
    { usage: counted, x_groq: { usage: usage(0, 0) } },
  ]) {
    const reading = readChunks([chunk({ content: "a" }), chunk({}, "stop", more), DONE]);
    assert.deepEqual([nonZeroCounts(reading), reading.usage], [{ input_uncached: 12, output: 3 }, "final"]);
  }
});

test("Responses: a second last event without usage does not erase that of the first", () => {
  const counts = { input_tokens: 12, output_tokens: 3, total_tokens: 15 };
  const completed = { type: "response.completed", response: { status: "completed", usage: counts } };
  const failed = { type: "response.failed", response: { status: "failed", usage: null } };
  const reading = readBody(stream([completed, failed]), setup({ dialect: "responses" }));
  assert.deepEqual([reading.outcome, nonZeroCounts(reading)], ["failed", { input_uncached: 12, output: 3 }]);
});
