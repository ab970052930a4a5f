import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sums } from "../../../../src/local/dashboard/page/feed-types.ts";
import {
  costOf,
  coverageOf,
  describeEndings,
  failedOf,
  worthOf,
} from "../../../../src/local/dashboard/page/usage-sums.ts";

const NONE = { input_uncached: 0, cache_read: 0, cache_write: 0, output: 0, plan_requests: 0, unpriced: [] };
const USED = { ...NONE, input_uncached: 10, output: 5 };
const UNPRICED = [{ model: "some-model", what: "input" }];

for (const [what, sums, word] of [
  ["tokens that cost nothing", { ...USED, cost_usd: "0", cost_is_exact: true }, "free"],
  ["tokens that a plan paid", { ...USED, cost_usd: "0", cost_is_exact: true, plan_requests: 1 }, "plan"],
  ["no tokens", { ...NONE, cost_usd: "0", cost_is_exact: true }, "$0.00"],
  [
    "models without a price",
    { ...USED, cost_usd: null, cost_is_exact: false, unpriced: UNPRICED },
    "unpriced",
  ],
  ["responses without counts", { ...NONE, cost_usd: null, cost_is_exact: false }, "unknown"],
  ["a part", { ...USED, cost_usd: "1.5", cost_is_exact: false, unpriced: UNPRICED }, "≥$1.50"],
  ["all of it", { ...USED, cost_usd: "1.5", cost_is_exact: true }, "$1.50"],
] as const)
  test(`the cost of ${what} is ${word}`, () => assert.equal(costOf(sums as unknown as Sums), word));

for (const [what, sums, text] of [
  ["an exact cost", { cost_is_exact: true }, "all counted"],
  ["responses without counts", { partial: 1, absent: 2 }, "97% counted"],
  ["one response of many without counts", { absent: 1, requests: 1_000 }, ">99% counted"],
  ["only responses without counts", { absent: 100 }, "0% counted"],
  [
    "models without a price",
    { absent: 1, unpriced: [...UNPRICED, ...UNPRICED] },
    "99% counted, 1 model unpriced",
  ],
  [
    "models without a price alone",
    { unpriced: [...UNPRICED, { model: null, what: "model" }] },
    "2 models unpriced",
  ],
  ["what the service says itself", {}, "lower bound"],
] as const)
  test(`the certainty of ${what} is “${text}”`, () => {
    const all = { cost_is_exact: false, requests: 100, partial: 0, absent: 0, unpriced: [], ...sums };
    assert.equal(coverageOf(all as unknown as Sums), text);
  });

for (const [what, worth, isExact, text] of [
  ["nothing", null, null, ""],
  ["all of it", "1.5", true, "$1.50"],
  ["a part of it", "1.5", false, "≥$1.50"],
] as const)
  test(`where ${what} is known of what plans paid, their worth is "${text}"`, () => {
    const sums = { plan_worth_usd: worth, plan_worth_is_exact: isExact };
    assert.equal(worthOf(sums as unknown as Sums), text);
  });

test("what failed midway is not completed, and failed", () => {
  const sums = { requests: 10, failed: 3, refused: 1, cut: 2, failed_midway: 1 } as Sums;
  assert.equal(describeEndings(sums), "7 completed, 2 cut short, 3 failed, 1 refused");
  assert.equal(failedOf(sums), 3);
});
