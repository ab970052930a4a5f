import assert from "node:assert/strict";
import { test } from "node:test";
import { medianRatio, summarise } from "./statistics.ts";

test("a summary has the median, the minimum and the maximum of unordered values", () => {
  assert.deepEqual(summarise([9, 1, 4]), { median: 4, min: 1, max: 9 });
});

test("a ratio is the median of the ratios of all rounds, so that a round that is slow on both sides changes nothing", () => {
  assert.equal(medianRatio([50, 500, 60], [100, 1_000, 100]), 0.5);
});

test("there is no ratio to zero or to a negative value", () => {
  assert.equal(medianRatio([5], []), Number.NaN);
  assert.equal(medianRatio([5], [0]), Number.NaN);
  assert.equal(medianRatio([5], [-1]), Number.NaN);
});
