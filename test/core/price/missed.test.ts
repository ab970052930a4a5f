import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { missedCostOf, MissedSpending } from "../../../src/core/price/missed.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const PRICES = priceBook(
  {
    default: { baseUrl: "https://gateway.example/v1" },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none" },
    contract: { baseUrl: "https://gateway.example/v1", discount: 50 },
  },
  {
    "house-1": { input: 2, cacheRead: 0.2, cacheWrite: 2.5, cacheWrite1h: 4, output: 10 },
    "house-2": { input: 1, cacheRead: 0.1, output: 1, tiers: [{ above: 30_000, input: 3, cacheRead: 0.3 }] },
    "house-odd": { input: 1, cacheRead: 2, output: 1 },
    "house-bare": { input: 1, output: 1 },
  },
);

function missed(changes: Partial<UsageRecord>): UsageRecord {
  return usageRecord({ model: "house-1", miss: "unknown", miss_by: "inferred", ...changes });
}

function priced(changes: Partial<UsageRecord>) {
  const cost = missedCostOf(missed(changes), PRICES);
  if (cost === null) return null;
  const worth = cost.worth === null ? [] : [`worth ${formatMoney(cost.worth)}`];
  return [formatMoney(cost.amount), ...worth, ...(cost.isExact ? [] : ["at least"])].join(", ");
}

const WRITTEN = { ...tokens({ input_uncached: 5_000, cache_write: 30_000, output: 9 }) };

test("a miss costs what its tokens were paid as, less what reading them costs", () => {
  // Written for 5 minutes: 10,000 tokens at $2.50 instead of $0.20 a million.
  assert.equal(priced({ tokens: WRITTEN, miss_tokens: 10_000 }), "0.023");
  // All 30,000 of them, and 2,000 that were not cached, at $2.
  assert.equal(priced({ tokens: WRITTEN, miss_tokens: 32_000 }), "0.0726");
  // A longer lifetime stands before a shorter one in a prompt: 20,000 at $4, the rest at $2.50.
  const both = { ...WRITTEN, cache_write_5m: 10_000, cache_write_1h: 20_000 };
  assert.equal(priced({ tokens: both, miss_tokens: 25_000 }), "0.0875");
  // No more than was paid: a service's count is about right only.
  assert.equal(priced({ tokens: WRITTEN, miss_tokens: 1_000_000 }), "0.078");
  assert.equal(priced({ tokens: WRITTEN, miss_tokens: 0 }), "0");
});

test("the prompt has the price of its size, whatever part of it was missed", () => {
  const set = tokens({ input_uncached: 40_000, output: 5 });
  assert.equal(priced({ model: "house-2", tokens: set, miss_tokens: 10_000 }), "0.027");
});

test("what costs nothing, was billed, or has no price says so", () => {
  const set = { tokens: WRITTEN, miss_tokens: 10_000 };
  assert.equal(priced({ ...set, upstream: "local", model: "llama" }), "0");
  assert.equal(priced({ ...set, upstream: "contract" }), "0.0115");
  assert.equal(priced({ ...set, billed_usd: "0.5" }), "0, at least");
  assert.equal(priced({ ...set, model: "nobody-knows" }), "0, at least");
  assert.equal(priced({ ...set, model: "house-bare" }), "0, at least");
  assert.equal(priced({ ...set, model: "house-odd", tokens: tokens({ input_uncached: 10_000 }) }), "0");
  assert.equal(priced({ ...set, miss_tokens: null }), "0, at least");
  assert.equal(priced({ ...set, usage: "partial" }), "0.023, at least");
  assert.equal(priced({ ...set, upstream: "plan:claude", key: "plan:claude" }), "0, worth 0.023");
  assert.equal(missedCostOf(usageRecord(), PRICES), null);
});

test("the cost of many is the sum of the costs of each, also by way of data", () => {
  const records = [
    missed({ tokens: WRITTEN, miss_tokens: 10_000 }),
    missed({ tokens: WRITTEN, miss_tokens: 32_000 }),
    missed({ tokens: WRITTEN, miss_tokens: 10_000, upstream: "plan:claude", key: "plan:claude" }),
  ];
  const [first, others] = [new MissedSpending(PRICES), new MissedSpending(PRICES)];
  for (const [at, record] of records.entries()) (at === 0 ? first : others).add(record);
  first.addEncoded(JSON.parse(JSON.stringify(others.encode())) as ReturnType<MissedSpending["encode"]>);
  const { amount, worth, isExact } = first.cost(PRICES);
  assert.deepEqual([formatMoney(amount), formatMoney(worth ?? 0n), isExact], ["0.0956", "0.023", true]);
});
