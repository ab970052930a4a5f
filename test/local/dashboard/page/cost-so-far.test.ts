import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { describeRunning } from "../../../../src/core/ledger/running-request.ts";
import { costSoFar } from "../../../../src/local/dashboard/page/live/cost-so-far.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const OF = { model: "m", upstream: "default" } as const;

/** A request that ended, with its cost: dollars for a million tokens, by class. */
function ended(change: Partial<UsageRecord>, prices: Readonly<Record<string, number>>) {
  const record = usageRecord({ ...OF, ...change });
  const lines = Object.entries(prices).map(([name, usd]) => ({
    class: name,
    model: "m",
    source: "s",
    count: 1_000,
    usd: String(usd),
    per: 1_000_000,
    factors: [],
    amount_usd: String(usd / 1_000),
  }));
  const cost = {
    amount_usd: "1",
    is_complete: true,
    is_lower_bound: false,
    from: "table",
    lines,
    missing: [],
  };
  return { ...record, cost };
}

const SMALL = { tokens: tokens({ input_uncached: 1_000 }) };
const running = (change: Partial<UsageRecord>) => describeRunning(usageRecord({ ...OF, ...change }));
const ASKED = running({ tokens: tokens({ input_uncached: 2_000, cache_read: 10_000, output: 1 }) });

test("what runs costs at least its input, at the prices of requests of its model that ended", () => {
  const entries = [ended(SMALL, { input_uncached: 3, output: 15 }), ended(SMALL, { cache_read: 0.3 })];
  assert.equal(costSoFar(ASKED, entries)?.toFixed(12), "0.009000000000");
});

for (const [what, entries] of [
  [
    "no request of its model has ended",
    [ended({ ...SMALL, model: "other" }, { input_uncached: 3, cache_read: 1 })],
  ],
  [
    "none at its upstream has ended",
    [ended({ ...SMALL, upstream: "spare" }, { input_uncached: 3, cache_read: 1 })],
  ],
  ["a class of its input has no known price", [ended(SMALL, { input_uncached: 3 })]],
  [
    "only longer prompts have ended, which may have a higher price",
    [ended({ tokens: tokens({ input_uncached: 300_000 }) }, { input_uncached: 6, cache_read: 1 })],
  ],
] as const) {
  test(`what a running request costs is not known if ${what}`, () => {
    assert.equal(costSoFar(ASKED, entries), null);
  });
}

test("without tokens nothing is known of the cost", () => {
  assert.equal(costSoFar(running({ tokens: null }), [ended(SMALL, { input_uncached: 3 })]), null);
});
