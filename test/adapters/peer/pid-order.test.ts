import assert from "node:assert/strict";
import { test } from "node:test";
import { sortNewestFirst } from "../../../src/adapters/peer/pid-order.ts";

for (const [what, pids, latest, sorted] of [
  ["by number, not by spelling", [10, 9, 1000, 999], 1000, [1000, 999, 10, 9]],
  ["those above the latest pid last", [5, 300, 32_000, 40, 301], 300, [300, 40, 5, 32_000, 301]],
  ["by number where the latest pid is unknown", [5, 32_000, 300], null, [32_000, 300, 5]],
] as const) {
  test(`sorts pids newest first: ${what}`, () => assert.deepEqual(sortNewestFirst(pids, latest), sorted));
}
