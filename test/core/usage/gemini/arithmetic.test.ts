import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flag, MeterReading } from "../../../../src/core/usage/reading.ts";
import { jsonSetup, nonZeroCounts, readBody } from "../response-bodies.ts";

const GEMINI = jsonSetup({ dialect: "gemini" });

function read(usageMetadata: object): MeterReading {
  return readBody({ candidates: [{ finishReason: "STOP" }], usageMetadata }, GEMINI);
}

/** P, U, A, R, T and K of a usage object, and what they must give. */
interface Case {
  what: string;
  usage: Record<string, number>;
  counts: Record<string, number>;
  flags?: Flag[];
  state?: MeterReading["usage"];
}

const CASES: Case[] = [
  {
    what: "adds thoughts to the output and what tools fed back to the input, and takes the cache out of the input",
    usage: {
      promptTokenCount: 1000,
      cachedContentTokenCount: 600,
      toolUsePromptTokenCount: 50,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      totalTokenCount: 1100,
    },
    counts: { input_uncached: 450, cache_read: 600, output: 50, reasoning: 30 },
  },
  {
    what: "takes the parts where there is no total",
    usage: { promptTokenCount: 10, candidatesTokenCount: 2, thoughtsTokenCount: 3 },
    counts: { input_uncached: 10, output: 5, reasoning: 3 },
  },
  {
    what: "takes a prompt that is not said out of the total",
    usage: { candidatesTokenCount: 2, totalTokenCount: 12 },
    counts: { input_uncached: 10, output: 2 },
  },
  {
    what: "does not count thoughts twice that the total shows to be among the candidates",
    usage: { promptTokenCount: 10, candidatesTokenCount: 9, thoughtsTokenCount: 4, totalTokenCount: 19 },
    counts: { input_uncached: 10, output: 9, reasoning: 4 },
    flags: ["thoughts_inside_candidates"],
  },
  {
    what: "looks for thoughts among the candidates beside what tools fed back",
    usage: {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: 9,
      thoughtsTokenCount: 4,
      totalTokenCount: 24,
    },
    counts: { input_uncached: 15, output: 9, reasoning: 4 },
    flags: ["thoughts_inside_candidates"],
  },
  {
    what: "does not count what tools fed back twice where the total shows it to be in the prompt",
    usage: {
      promptTokenCount: 580,
      toolUsePromptTokenCount: 103,
      candidatesTokenCount: 1119,
      totalTokenCount: 1699,
    },
    counts: { input_uncached: 580, output: 1119 },
    flags: ["tool_use_inside_prompt"],
  },
  {
    what: "counts what only the total has as output",
    usage: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 40 },
    counts: { input_uncached: 10, output: 30 },
    flags: ["total_exceeds_sum"],
  },
  {
    what: "keeps the parts, and calls nothing exact, where the total is below their sum",
    usage: { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 7 },
    counts: { input_uncached: 10, output: 20 },
    flags: ["total_mismatch"],
    state: "partial",
  },
  {
    what: "counts no cache that exceeds the input, and calls that exact only where kinds of input prove the input",
    usage: { promptTokenCount: 10, cachedContentTokenCount: 11, totalTokenCount: 10 },
    counts: { input_uncached: 10 },
    flags: ["cached_exceeds_prompt", "undecided"],
    state: "partial",
  },
];

for (const { what, usage, counts, flags = [], state = "final" } of CASES) {
  test(what, () => {
    const reading = read(usage);
    assert.deepEqual(nonZeroCounts(reading), counts);
    assert.deepEqual([reading.flags, reading.usage, reading.raw_usage], [flags, state, usage]);
  });
}

const details = (...counts: number[]) => counts.map((tokenCount) => ({ modality: "TEXT", tokenCount }));

test("calls a cache that exceeds the input disproved where the kinds of input add up to the input", () => {
  const usage = { promptTokenCount: 10, cachedContentTokenCount: 11, promptTokensDetails: details(10) };
  const { flags, usage: state } = read(usage);
  assert.deepEqual([flags, state], [["cached_exceeds_prompt"], "final"]);
});

test("says that reasoning is unknown where thoughts are not named, and 0 where they are said to be 0", () => {
  assert.equal(read({ promptTokenCount: 1, candidatesTokenCount: 2 }).tokens?.reasoning, null);
  assert.equal(
    read({ promptTokenCount: 1, candidatesTokenCount: 2, thoughtsTokenCount: 0 }).tokens?.reasoning,
    0,
  );
});

test("never takes a count from the lists by modality, and says when they do not add up", () => {
  const usage = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  for (const [lists, flags] of [
    [{ promptTokensDetails: details(4, 6), candidatesTokensDetails: details(5) }, []],
    [{ promptTokensDetails: details(4) }, ["details_short"]],
    [{ promptTokenDetails: details(40) }, ["details_exceed"]],
    [
      { candidatesTokensDetails: details(1), toolUsePromptTokensDetails: details(3) },
      ["details_short", "details_exceed"],
    ],
    [{ promptTokensDetails: [], cacheTokensDetails: null, candidatesTokensDetails: "x" }, []],
  ] as const) {
    const reading = read({ ...usage, ...lists });
    assert.deepEqual([nonZeroCounts(reading), reading.flags], [{ input_uncached: 10, output: 5 }, flags]);
    assert.equal(reading.usage, "final");
  }
});

test("takes an object without prompt and total for no usage: a traffic type, or one list", () => {
  for (const usage of [
    {},
    { trafficType: "ON_DEMAND" },
    { toolUsePromptTokenCount: 812 },
    { candidatesTokenCount: 7, candidatesTokensDetails: [{ modality: "TEXT", tokenCount: 7 }] },
    { promptTokenCount: "10", totalTokenCount: -1 },
  ]) {
    const { tokens, usage: state, spend, raw_usage: raw } = read(usage);
    assert.deepEqual([tokens, state, spend, raw], [null, "absent", "never", null]);
  }
});

const tierOf = (usage: object) => read({ promptTokenCount: 1, ...usage }).service_tier;

test("reads the tier as it was served, by Vertex's names or by those of the Gemini API", () => {
  for (const [usage, tier] of [
    [{ trafficType: "ON_DEMAND" }, "standard"],
    [{ trafficType: "ON_DEMAND_FLEX" }, "flex"],
    [{ trafficType: "ON_DEMAND_PRIORITY" }, "priority"],
    [{ trafficType: "PROVISIONED_THROUGHPUT" }, "provisioned_throughput"],
    [{ trafficType: "NEW_KIND" }, "new_kind"],
    [{ trafficType: "TRAFFIC_TYPE_UNSPECIFIED" }, null],
    [{ serviceTier: "flex" }, "flex"],
    [{ serviceTier: "PRIORITY" }, "priority"],
    [{}, null],
  ] as const)
    assert.equal(tierOf(usage), tier);
});
