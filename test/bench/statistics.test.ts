import assert from "node:assert/strict";
import { test } from "node:test";
import { medianInterval, medianRatio, summarise } from "./statistics.ts";

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

test("the interval of a median leaves out as many values as a coin rarely throws", () => {
  // Of 20 throws, at most 5 are heads in 2.07 %, and at most 6 in 5.8 % (tables of the binomial distribution).
  const twenty = Array.from({ length: 20 }, (_, at) => 20 - at);
  assert.deepEqual(medianInterval(twenty), { median: 11, low: 6, high: 15 });
  assert.deepEqual(medianInterval([6, 5, 4, 3, 2, 1]), { median: 4, low: 1, high: 6 });
});

test("fewer than six values give no interval", () => {
  assert.deepEqual(medianInterval([1, 2, 3, 4, 5]), { median: 3, low: Number.NaN, high: Number.NaN });
});
