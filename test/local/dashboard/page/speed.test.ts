import assert from "node:assert/strict";
import { test } from "node:test";
import { isFound } from "../../../../src/local/dashboard/page/requests/found-request.ts";
import { modelSpeeds } from "../../../../src/local/dashboard/page/requests/speed.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

test("the speed of a model is the median of its requests, and says what the slowest 5% had to wait", () => {
  const slow = Array.from({ length: 100 }, (_, at) =>
    usageRecord({
      model: "slow",
      ttft_ms: 100 * (at + 1),
      duration_ms: 100 * (at + 1) + 10_000,
      tokens: tokens({ output: 51 }),
    }),
  );
  const fast = usageRecord({
    model: "fast",
    ttft_ms: 5,
    duration_ms: 1_005,
    tokens: tokens({ output: 101 }),
  });
  const refused = usageRecord({ model: "refused", ttft_ms: null });
  assert.deepEqual(modelSpeeds([fast, refused, ...slow]), [
    { model: "slow", requests: 100, firstMs: 5_000, slowestMs: 9_500, perSecond: 5 },
    { model: "fast", requests: 1, firstMs: 5, slowestMs: 5, perSecond: 100 },
  ]);
});

test("a model whose responses came at once has no tokens a second", () => {
  const [speed] = modelSpeeds([
    usageRecord({ ttft_ms: 100, duration_ms: 1_099, tokens: tokens({ output: 500 }) }),
  ]);
  assert.equal(speed?.perSecond, null);
});

test("a request is found by all words of a search, in its names, its error and its ids", () => {
  const record = usageRecord({
    tool: "zed",
    project: "/src/Shop",
    error_type: "budget_spent",
    outcome: "rejected",
    session: "5e55",
  });
  for (const search of ["", "ZED", "shop zed", "budget", "rejected 5e55", record.id])
    assert.ok(isFound(record, search), search);
  assert.ok(!isFound(record, "shop codex"));
});
