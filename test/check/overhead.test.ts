import assert from "node:assert/strict";
import { test } from "node:test";
import { percentilesOf } from "../../src/check/overhead.ts";

test("each percentile is the measured time that this share of times does not exceed", () => {
  const times = Array.from({ length: 200 }, (_value, at) => 200 - at);
  assert.deepEqual(percentilesOf(times), { p50: 100, p90: 180, p99: 198 });
});

test("all percentiles of a single time are that time, and percentilesOf does not reorder its argument", () => {
  assert.deepEqual(percentilesOf([7]), { p50: 7, p90: 7, p99: 7 });
  const times = [3, 1, 2];
  percentilesOf(times);
  assert.deepEqual(times, [3, 1, 2]);
});
