import assert from "node:assert/strict";
import { test } from "node:test";
import { isSought, SOUGHT } from "../../../../src/core/ledger/spend.ts";
import type { PricedRecord } from "../../../../src/local/dashboard/page/feed-types.ts";
import { describeDay } from "../../../../src/local/dashboard/page/requests/day-words.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";

for (const [what, changes, sought] of [
  ["a completed request", {}, []],
  ["one that failed midway", { outcome: "failed" }, ["failed", "problem"]],
  [
    "one without a response",
    { outcome: "rejected", error_type: "upstream_unreachable" },
    ["failed", "problem"],
  ],
  [
    "one that tollkeeper refused",
    { outcome: "rejected", error_type: "budget_spent" },
    ["refused", "problem"],
  ],
  ["one that was cut short", { outcome: "cut" }, ["cut", "problem"]],
  ["one that missed the cache", { miss: "expired" }, ["missed"]],
] as const)
  test(`the view of requests finds ${what} by: ${sought.join(", ") || "nothing"}`, () => {
    const record = usageRecord(changes);
    assert.deepEqual(
      SOUGHT.filter((one) => isSought(record, one)),
      sought,
    );
  });

/** A request of this cost, if it is known. */
function costing(amount: string | null, changes: object = {}): PricedRecord {
  const cost = { amount_usd: amount, is_complete: amount !== null, is_lower_bound: false };
  return { ...usageRecord(changes), cost } as unknown as PricedRecord;
}

for (const [records, words] of [
  [[costing("1.5")], "1 request, $1.50"],
  [[costing("1.5"), costing("0.5")], "2 requests, $2.00"],
  [[costing("1.5"), costing(null)], "2 requests, ≥$1.50"],
  [[costing("0"), costing(null)], "2 requests"],
  [[costing("0", { outcome: "error" }), costing("1")], "2 requests, $1.00, 1 failed"],
  [[costing("0", { outcome: "rejected", error_type: "budget_spent" })], "1 request"],
] as const)
  test(`requests of a day are “${words}”`, () => assert.equal(describeDay(records), words));
