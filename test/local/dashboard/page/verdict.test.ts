import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { TimedRow } from "../../../../src/local/dashboard/page/feed-types.ts";
import { formatAlike } from "../../../../src/local/dashboard/page/numbers.ts";
import { howMuch, LONG, MANY } from "../../../../src/local/dashboard/page/overview/how-much.ts";
import { verdictOf } from "../../../../src/local/dashboard/page/overview/verdict.ts";

for (const [figure, other, text, than] of [
  [3.1, 1, "3.1 times as much", "as"],
  [39, 1, "39 times as much", "as"],
  [2.02, 1, "twice as much", "as"],
  [1.12, 1, "12% more", "than"],
  [1.02, 1, "about as much", "as"],
  [1, 1, "as much", "as"],
  [0.76, 1, "24% less", "than"],
  [0.51, 1, "half as much", "as"],
  [1, 3, "a third as much", "as"],
  [0.001, 1, ">99% less", "than"],
  [0, 1, "100% less", "than"],
] as const)
  test(`${figure} is ${text} ${than} ${other}`, () => {
    assert.deepEqual(howMuch(figure, other), { text, than });
  });

test("times and numbers have words of their own, and nothing is beside nothing", () => {
  assert.equal(howMuch(0.8, 1, LONG)?.text, "20% less time");
  assert.equal(howMuch(0.8, 1, MANY)?.text, "20% fewer");
  assert.equal(howMuch(1, 0), null);
});

test("the words never have the wrong direction", () => {
  const amount = fc.double({ min: 0.001, max: 1_000_000, noNaN: true });
  fc.assert(
    fc.property(amount, amount, (figure, other) => {
      const text = howMuch(figure, other)?.text ?? "";
      if (/more|twice|times/.test(text)) assert.ok(figure > other, text);
      if (/less|half|third|quarter/.test(text)) assert.ok(figure < other, text);
      if (text.startsWith("about")) assert.ok(Math.abs(figure / other - 1) < 0.05, text);
    }),
    { numRuns: 2_000 },
  );
});

/** Of a model with a hundred requests. */
function row(model: string, fields: Partial<TimedRow> = {}): TimedRow {
  const times = { ttft_ms: { median: 1_000, p95: 2_000 }, tokens_per_second: null };
  const counts = { requests: 100, failed: 0, partial: 0, absent: 0, plan_requests: 0, own_requests: 0 };
  const tokens = { input_uncached: 1, cache_read: 0, cache_write: 0, output: 1 };
  const cost = { cost_usd: "3", cost_is_exact: true, unpriced: [] };
  return { model, ...times, ...counts, ...tokens, ...cost, ...fields } as unknown as TimedRow;
}

const OPUS = row("opus");
const QUICK = { ttft_ms: { median: 500, p95: 900 } };

for (const [what, second, expected] of [
  [
    "a third of the cost and half the time",
    { cost_usd: "1", ...QUICK },
    "gpt costs a third as much per request as opus, and its first token takes half as long.",
  ],
  [
    "other percents",
    { cost_usd: "3.6", ttft_ms: { median: 800, p95: 900 } },
    "gpt costs 20% more per request than opus, and its first token takes 20% less time.",
  ],
  [
    "fewer requests of the same cost",
    { requests: 50, ttft_ms: null },
    "gpt costs twice as much per request as opus.",
  ],
  [
    "a cost that is counted but for 5% of the requests",
    { cost_usd: "6", cost_is_exact: false, partial: 5, ttft_ms: null },
    "gpt costs about twice as much per request as opus.",
  ],
  [
    "a difference that may be what is not counted",
    { cost_usd: "3.2", cost_is_exact: false, absent: 8, ttft_ms: null },
    "gpt costs about as much per request as opus.",
  ],
  [
    "an unpriced cost",
    { cost_usd: "1", cost_is_exact: false, unpriced: [{ model: "gpt", what: "input" }], ...QUICK },
    "The first token of gpt takes half as long as that of opus.",
  ],
  ["a cost of which too much is not counted", { cost_is_exact: false, partial: 20, ttft_ms: null }, ""],
  ["a cost that is not exact for another reason", { cost_is_exact: false, ttft_ms: null }, ""],
  ["requests that a plan paid", { cost_usd: "1", plan_requests: 60, ttft_ms: null }, ""],
  ["requests that a key of the tool's own paid", { cost_usd: "1", own_requests: 60, ttft_ms: null }, ""],
  ["no cost", { cost_usd: null, cost_is_exact: false, ttft_ms: null }, ""],
  ["too few requests", { requests: 19, cost_usd: "1", ...QUICK }, ""],
] as const)
  test(`the verdict on ${what} is ${expected === "" ? "left out" : `"${expected}"`}`, () => {
    assert.equal(verdictOf(OPUS, row("gpt", second as Partial<TimedRow>), "model"), expected);
  });

test("figures beside each other are in one unit", () => {
  assert.deepEqual(formatAlike([111_471_371, 35_205_811]), ["111.5M", "35.2M"]);
  assert.deepEqual(formatAlike([1_311_418, 405_531]), ["1,311,418", "405,531"]);
  assert.deepEqual(formatAlike([2_300_000_000, 4_000_000]), ["2,300,000,000", "4,000,000"]);
});
