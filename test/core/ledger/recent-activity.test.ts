import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentActivity } from "../../../src/core/ledger/recent-activity.ts";
import { describeRunning } from "../../../src/core/ledger/running-request.ts";
import { parseMoney } from "../../../src/core/price/money.ts";
import { PRICES } from "../../helpers/ledger/priced-record.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const NOW = Date.parse("2026-11-24T12:00:00Z");
const ago = (ms: number) => new Date(NOW - ms).toISOString();
/** $3 for a million tokens in, $15 for a million out, and a tenth of the price from the cache. */
const TOKENS = tokens({ input_uncached: 1_000, cache_read: 9_000, output: 600 });

function ended(id: string, endedMsAgo: number, fields: object = {}) {
  return usageRecord({
    id,
    tool: "codex",
    upstream: "anthropic",
    model: "claude-sonnet-5",
    ts: ago(endedMsAgo + 2_000),
    duration_ms: 2_000,
    tokens: TOKENS,
    ...fields,
  });
}

test("what ended in the last hour is summed up for each tool, with rates of the last minute", () => {
  const activity = new RecentActivity(PRICES);
  activity.add(ended("a", 30_000));
  activity.add(ended("b", 600_000));
  activity.add(
    ended("c", 600_000, { tool: "zed", outcome: "error", status: 529, tokens: null, usage: "none" }),
  );
  const { tools, all } = activity.summarise(NOW, [describeRunning(ended("d", 0, { tool: "zed" }))]);
  const codex = tools.get("codex");
  assert.deepEqual([codex?.requests, codex?.requestsPerMinute, codex?.inputPerMinute], [2, 1, 10_000]);
  assert.deepEqual(
    [codex?.outputPerSecond, codex?.input, codex?.cacheRead, codex?.output],
    [10, 20_000, 18_000, 1_200],
  );
  assert.deepEqual([codex?.running, codex?.failed, codex?.isSpentExact], [0, 0, true]);
  const zed = tools.get("zed");
  assert.deepEqual([zed?.running, zed?.requests, zed?.failed, zed?.spent], [1, 1, 1, 0n]);
  assert.equal(all.spent, codex?.spent);
  assert.ok(all.spent > (parseMoney("0.001") ?? 0n));
});

test("a record counts once, and no longer than an hour", () => {
  const activity = new RecentActivity(PRICES);
  activity.add(ended("a", 3_599_000));
  activity.add(ended("a", 3_599_000));
  assert.equal(activity.summarise(NOW, []).all.requests, 1);
  assert.equal(activity.summarise(NOW + 2_000, []).all.requests, 0);
  assert.equal(activity.summarise(NOW + 2_000, []).tools.size, 0);
});

test("what the sandbox answered costs nothing, and a cost of which a part is unknown is said to be", () => {
  const activity = new RecentActivity(PRICES);
  activity.add(ended("a", 1_000, { upstream: "sandbox" }));
  assert.deepEqual(
    [activity.summarise(NOW, []).all.spent, activity.summarise(NOW, []).all.isSpentExact],
    [0n, true],
  );
  activity.add(ended("b", 1_000, { usage: "partial", outcome: "cut" }));
  assert.equal(activity.summarise(NOW, []).all.isSpentExact, false);
});
