import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAge } from "../../../src/core/text/age.ts";

const NOW = Date.UTC(2026, 10, 21, 12);

for (const [ms, expected] of [
  [0, "just now"],
  [999, "just now"],
  [-800, "just now"],
  [1_000, "1 s ago"],
  [59_999, "59 s ago"],
  [60_000, "1 min ago"],
  [3_599_999, "59 min ago"],
  [3_600_000, "1 h ago"],
  [47 * 3_600_000, "47 h ago"],
  [49 * 3_600_000, "2 days ago"],
  [-5_000, "in the future, by this clock"],
] as const) {
  test(`formats an age of ${ms} ms as "${expected}"`, () => assert.equal(formatAge(NOW - ms, NOW), expected));
}
