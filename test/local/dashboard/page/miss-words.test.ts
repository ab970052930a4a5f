import assert from "node:assert/strict";
import { test } from "node:test";
import type { Miss } from "../../../../src/local/dashboard/page/feed-types.ts";
import { describeMiss, explainMiss } from "../../../../src/local/dashboard/page/record/miss-words.ts";

const MISS = { meaning: "expired", by: "inferred", tokens: null, habit: null } as const;

for (const [cost, worth, isExact, words, end] of [
  ["1.25", null, true, "expired, +$1.25", "for $1.25 less."],
  ["1.25", null, false, "expired, ≥$1.25 more", "for ≥$1.25 less."],
  ["0", null, false, "expired", "read more from the cache."],
  ["0", null, true, "expired, +$0.00", "for $0.00 less."],
  ["0", "1.35", true, "expired, (+$1.35)", "for ($1.35) less."],
  ["0", "0", false, "expired", "read more from the cache."],
] as const)
  test(`a miss that cost ${isExact ? "" : "at least "}${worth ?? cost} more is ${words}`, () => {
    const miss: Miss = { ...MISS, cost_usd: cost, plan_worth_usd: worth, is_exact: isExact };
    assert.equal(describeMiss(miss), words);
    assert.ok(explainMiss(miss).endsWith(end), explainMiss(miss));
  });
