import assert from "node:assert/strict";
import { test } from "node:test";
import { followSession } from "../../../../src/local/dashboard/page/sessions/session-requests.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const COST = { is_complete: true, is_lower_bound: false, from: "table", lines: [], missing: [] };

/** A request of a session: what it read from the cache, wrote to it, and sent besides. */
function request(cacheRead: number, cacheWrite: number, uncached: number, model = "claude-sonnet-5") {
  const used = tokens({ cache_read: cacheRead, cache_write: cacheWrite, input_uncached: uncached });
  return { ...usageRecord({ model, tokens: used }), cost: { ...COST, amount_usd: "0.25" } };
}

test("costs add up along a session", () => {
  const costs = followSession([request(0, 0, 10), request(0, 0, 10)]).map(({ costSoFar }) => costSoFar);
  assert.deepEqual(costs, [0.25, 0.5]);
});

test("what a session has cost so far is not known until a request has a known cost", () => {
  const unknown = { ...request(0, 0, 10), cost: { ...COST, is_complete: false, amount_usd: null } };
  const costs = followSession([unknown, request(0, 0, 10), unknown]).map(({ costSoFar }) => costSoFar);
  assert.deepEqual(costs, [null, 0.25, 0.25]);
});

test("a request that reads less than half of what the one before left in the cache has missed it", () => {
  const requests = [
    request(0, 20_000, 10),
    request(20_000, 3_000, 10),
    request(0, 24_000, 10),
    request(24_000, 100, 10),
    request(0, 0, 90, "claude-haiku-4-5"),
    request(0, 0, 90),
    { ...request(0, 0, 0), tokens: null },
  ];
  assert.deepEqual(
    followSession(requests).map(({ hasMissed }) => hasMissed),
    [false, false, true, false, false, false, false],
  );
});
