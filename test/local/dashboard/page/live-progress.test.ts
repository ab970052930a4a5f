import assert from "node:assert/strict";
import { test } from "node:test";
import { describeRunning } from "../../../../src/core/ledger/running-request.ts";
import type { Cost, FeedEntry } from "../../../../src/local/dashboard/page/feed-types.ts";
import { paceOf } from "../../../../src/local/dashboard/page/live/pace.ts";
import {
  describeStream,
  Progress,
  toneOfStream,
} from "../../../../src/local/dashboard/page/live/progress.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

function request(bytes: number, output: number) {
  return describeRunning(
    usageRecord({ id: "one", ttft_ms: 5, bytes_out: bytes, tokens: tokens({ output }) }),
  );
}

test("what came is bytes until the service has counted more tokens than at first", () => {
  const progress = new Progress();
  progress.look([request(0, 3)], 0);
  assert.equal(progress.soFar(request(0, 3)), "");
  progress.look([request(12_400, 3)], 1_000);
  assert.equal(progress.soFar(request(12_400, 3)), "12 kB");
  progress.look([request(14_000, 1_204)], 2_000);
  assert.equal(progress.soFar(request(14_000, 1_204)), "≥1,204");
});

test("a stream is quiet from the last piece that the page saw, and one that has ended is forgotten", () => {
  const progress = new Progress();
  const quiet = (now: number) => progress.quietFor(request(10, 3), now);
  progress.look([request(5, 3)], 0);
  progress.look([request(10, 3)], 4_000);
  progress.look([request(10, 3)], 9_000);
  assert.equal(quiet(9_500), 5_500);
  progress.look([], 10_000);
  assert.equal(quiet(12_000), 0);
});

for (const [quietMs, state, tone] of [
  [2_900, "streaming", "streaming"],
  [3_000, "quiet for 3 s", ""],
  [29_900, "quiet for 29 s", ""],
  [30_000, "quiet for 30 s", "warning"],
] as const)
  test(`a stream of which nothing came for ${quietMs} ms is ${state}, ${tone || "plain"}`, () => {
    assert.equal(describeStream(quietMs), state);
    assert.equal(toneOfStream(quietMs), tone);
  });

const NOW = Date.parse("2026-11-29T15:00:00Z");
const COST: Cost = {
  amount_usd: "0.5",
  is_complete: true,
  is_lower_bound: false,
  from: "table",
  lines: [],
  missing: [],
};

/** A record that ended so many minutes ago. */
function ended(minutes: number, changes: object = {}): FeedEntry {
  const ts = new Date(NOW - minutes * 60_000 - 2_000).toISOString();
  return { ...usageRecord({ ts, duration_ms: 2_000 }), cost: COST, ...changes };
}

for (const [what, entries, expected] of [
  ["no request", [], ""],
  ["one of just now", [ended(0.5)], ""],
  ["a minute", [ended(0.5), ended(1)], "$1.00 a minute in the last minute"],
  ["some minutes, up to the oldest that is known", [ended(1), ended(4)], "$0.250 a minute in the last 4 min"],
  [
    "ten minutes of longer",
    [ended(1), ended(10), ended(11), ended(40)],
    "$0.100 a minute in the last 10 min",
  ],
  ["requests that cost nothing", [ended(3, { cost: { ...COST, amount_usd: "0" } })], ""],
  [
    "a cost that is not known yet",
    [ended(1, { cost: undefined }), ended(2)],
    "≥$0.250 a minute in the last 2 min",
  ],
  [
    "a part of a cost",
    [ended(2, { cost: { ...COST, is_lower_bound: true } })],
    "≥$0.250 a minute in the last 2 min",
  ],
] as const)
  test(`the pace of ${what} is “${expected}”`, () => {
    assert.equal(
      paceOf(entries, () => true, NOW),
      expected,
    );
  });

function isOfZed(entry: FeedEntry): boolean {
  return "tool" in entry && entry.tool === "zed";
}

test("only what the filter lets through counts for the pace", () => {
  const entries = [ended(1, { tool: "zed" }), ended(2, { tool: "codex" })];
  assert.equal(paceOf(entries, isOfZed, NOW), "$0.250 a minute in the last 2 min");
});
