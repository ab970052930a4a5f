import assert from "node:assert/strict";
import { test } from "node:test";
import { nameClass } from "../../../../src/local/dashboard/page/record/class-words.ts";
import { followSession } from "../../../../src/local/dashboard/page/sessions/session-requests.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const COST = { is_complete: true, is_lower_bound: false, from: "table", lines: [], missing: [] };

/** A request of a session that cost $0.25. */
function request() {
  const record = usageRecord({ tokens: tokens({ input_uncached: 10 }) });
  return { ...record, cost: { ...COST, amount_usd: "0.25" }, missed: null };
}

test("costs add up along a session", () => {
  const costs = followSession([request(), request()]).map(({ costSoFar }) => costSoFar);
  assert.deepEqual(costs, [0.25, 0.5]);
});

test("what a session has cost so far is not known until a request has a known cost", () => {
  const unknown = { ...request(), cost: { ...COST, is_complete: false, amount_usd: null } };
  const costs = followSession([unknown, request(), unknown]).map(({ costSoFar }) => costSoFar);
  assert.deepEqual(costs, [null, 0.25, 0.25]);
});

test("what a session has cost so far is at least that from the first request on whose cost is not known wholly", () => {
  const part = { ...request(), cost: { ...COST, is_lower_bound: true, amount_usd: "0.25" } };
  const unknown = { ...request(), cost: { ...COST, is_complete: false, amount_usd: null } };
  for (const one of [part, unknown]) {
    const exact = followSession([request(), one, request()]).map(({ isExactSoFar }) => isExactSoFar);
    assert.deepEqual(exact, [true, false, false]);
  }
});

test("requests are numbered among all of their session", () => {
  const numbers = followSession([request(), request()], 310).map(({ number }) => number);
  assert.deepEqual(numbers, [311, 312]);
});

for (const [name, words] of [
  ["input_uncached", "uncached"],
  ["cache_read", "from cache"],
  ["cache_write_5m", "to cache (5 min)"],
  ["cache_write_ttl_unknown", "to cache"],
  ["web_search", "web search"],
] as const)
  test(`what is charged as ${name} is called “${words}”`, () => assert.equal(nameClass(name), words));
