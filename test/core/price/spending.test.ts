import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { priceCharge } from "../../../src/core/price/charge-cost.ts";
import { chargesOf } from "../../../src/core/price/charge.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { Spending, type EncodedSpending } from "../../../src/core/price/spending.ts";
import { daySlots, PRICE_CHANGES, timeSlots } from "../../../src/core/price/time-slots.ts";
import { PRICES, pricedRecord as record } from "../../helpers/ledger/priced-record.ts";
import { costOf, priceBook, priceTable } from "../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

function spendingOf(records: readonly UsageRecord[]): Spending {
  const spending = new Spending(PRICES);
  for (const one of records) {
    const { own, extra } = chargesOf(one);
    spending.addRequest(one, own);
    for (const charge of extra) spending.addCharge(charge);
  }
  return spending;
}

/** What the records cost one by one. */
function costOfEach(records: readonly UsageRecord[]) {
  const costs = records.map((one) => costOf(one, PRICES));
  let [amount, billed, isExact, unknown] = [0n, 0n, true, 0];
  const unpriced = new Set<string>();
  // Calls that are proved may have a price where the usage is unknown.
  for (const charge of records.flatMap((one) => chargesOf(one).own))
    if (priceCharge(charge, PRICES).certainty === "unknown") unknown += charge.requests;
  for (const cost of costs) {
    if (cost.kind !== "unknown") amount += cost.kind === "priced" ? cost.amount : cost.atLeast;
    if (cost.kind === "priced" && cost.from === "billed") billed += cost.amount;
    if (cost.kind === "unpriced")
      for (const { model, what } of cost.missing) unpriced.add(`${model}: ${what}`);
    if (cost.kind !== "priced" || cost.isLowerBound) isExact = false;
  }
  return { amount, billed, isExact, unknown, unpriced: [...unpriced].toSorted() };
}

function summarised(spending: Spending) {
  const { amount, billed, isExact, unknown, unpriced } = spending.cost(PRICES);
  const names = unpriced.map(({ model, what }) => `${model}: ${what}`).toSorted();
  return { amount, billed, isExact, unknown, unpriced: names };
}

test("the cost of a sum is the sum of the costs, to the last digit, however it is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.array(record, { maxLength: 20 }), { maxLength: 5 }), (groups) => {
      const expected = costOfEach(groups.flat());
      assert.deepEqual(summarised(spendingOf(groups.flat())), expected);
      const merged = new Spending(PRICES);
      for (const group of groups) merged.add(spendingOf(group));
      assert.deepEqual(summarised(merged), expected);
    }),
    { numRuns: 500 },
  );
});

test("adding up leaves what was added unchanged", () => {
  const one = usageRecord({
    upstream: "anthropic",
    model: "claude-sonnet-5",
    server_tools: { web_search: 1 },
  });
  const before = structuredClone(one);
  const [first, second] = [spendingOf([one]), spendingOf([one])];
  const cost = summarised(first);
  second.add(first);
  second.add(first);
  assert.deepEqual(summarised(first), cost);
  assert.deepEqual(one, before);
});

test("the sizes of prompts that are told apart come with the prices: those of the table, and those of the configuration", () => {
  const limits = PRICES.allLimits();
  for (const limit of [100_000, 128_000, 200_000, 272_000, 512_000])
    assert.ok(limits.includes(limit), `${limit}`);
  const own = priceBook(
    {
      house: {
        baseUrl: "https://house.example/v1",
        prices: { "a-*": { input: 1, tiers: [{ above: 7, input: 2 }] } },
      },
    },
    { "b-*": { input: 1, tiers: [{ above: 12_345, input: 2 }] } },
  );
  assert.deepEqual(
    own.allLimits().filter((limit) => !limits.includes(limit)),
    [7, 12_345],
  );
  assert.deepEqual(own.limitsOf("house", "a-1"), [7]);
  assert.deepEqual(own.limitsOf("elsewhere", "a-1"), []);
  assert.deepEqual(own.limitsOf("house", "claude-haiku-5-5"), [100_000]);
});

test("sums that were added up by other limits than the prices have now are a lower bound, and say why", () => {
  const old = new Spending(timeSlots([200_000]));
  const sizes = [10, 90_000, 150_000].map((input) =>
    usageRecord({
      upstream: "gateway",
      model: "claude-haiku-5-5",
      tokens: tokens({ input_uncached: input }),
    }),
  );
  for (const one of sizes) old.addRequest(one, chargesOf(one).own);
  const { amount, isExact, unpriced } = old.cost(PRICES);
  // All at the price below 100,000, which is the least: 240,010 * 0.1
  assert.deepEqual([formatMoney(amount), isExact], ["0.024001", false]);
  assert.deepEqual(unpriced, [{ model: "claude-haiku-5-5", what: "long context", requests: 3 }]);
  const now = new Spending(timeSlots(PRICES.allLimits()));
  for (const one of sizes) now.addRequest(one, chargesOf(one).own);
  // 90,010 * 0.1 + 150,000 * 0.5
  assert.equal(formatMoney(now.cost(PRICES).amount), "0.084001");
});

/** Says what caches saved in a request to Claude Sonnet 4.5. */
function saved(counts: Parameters<typeof tokens>[0]): string {
  const changes = { upstream: "gateway", model: "claude-sonnet-4-5", tokens: tokens(counts) };
  const { saved: amount } = spendingOf([usageRecord(changes)]).cost(PRICES);
  return amount < 0n ? `-${formatMoney(-amount)}` : formatMoney(amount);
}

test("what caches saved is the price of uncached input, less what was paid", () => {
  // 3 / 0.3 / 3.75: 100 000 * 2.7
  assert.equal(saved({ cache_read: 100_000 }), "0.27");
  // 100 000 * -0.75
  assert.equal(saved({ cache_write: 100_000 }), "-0.075");
  assert.equal(saved({ cache_read: 50_000, cache_write: 50_000 }), "0.0975");
  // Above 200 000 the input would have cost 6, and reads cost 0.6: 300 000 * 5.4
  assert.equal(saved({ cache_read: 300_000 }), "1.62");
  assert.equal(saved({ input_uncached: 1000, output: 10 }), "0");
});

test("sums that are kept without a price table, and sent as JSON, cost the same", () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 30 }), (records) => {
      const blind = new Spending(timeSlots(PRICES.allLimits()));
      for (const one of records) {
        const { own, extra } = chargesOf(one);
        blind.addRequest(one, own);
        for (const charge of extra) blind.addCharge(charge);
      }
      const sent = JSON.parse(JSON.stringify(blind.encode())) as EncodedSpending;
      const priced = new Spending(PRICES);
      priced.addEncoded(sent);
      assert.deepEqual(summarised(priced), summarised(spendingOf(records)));
    }),
    { numRuns: 300 },
  );
});

/** A request at a time of the day to a model whose price depends on it. */
function requestAt(time: string): UsageRecord {
  const changes = { upstream: "deepseek", model: "deepseek-v4-pro", ts: `2026-11-20T${time}.000Z` };
  return usageRecord({ ...changes, tokens: tokens({ output: 1_000_000 }) });
}

for (const [what, slots] of [
  ["sums", timeSlots([])],
  ["the sums of a day", daySlots([])],
] as const) {
  test(`${what} that are kept without a price table keep times with different prices apart`, () => {
    const records = ["00:59:59", "01:00:00", "03:59:59", "04:00:00", "06:00:00", "10:00:00"].map(requestAt);
    const blind = new Spending(slots);
    for (const one of records) blind.addRequest(one, chargesOf(one).own);
    const expected = spendingOf(records).cost(PRICES).amount;
    assert.equal(blind.cost(PRICES).amount, expected);
    assert.notEqual(expected, 6n * spendingOf(records.slice(0, 1)).cost(PRICES).amount);
  });
}

const slotAt = (model: string, time: string) => daySlots([]).slotOf("any", model, `2026-11-21T${time}Z`);

test("the sums of a day keep times apart for all models of the price table whose price changes during a day", () => {
  const models = priceTable.providers.flatMap(({ models: all }) => all);
  const changing = models.filter(({ prices }) => prices.some(({ between }) => between !== undefined));
  assert.ok(changing.length > 0);
  for (const { id, match } of changing) {
    assert.notEqual(slotAt(id, "00:59:59.999"), slotAt(id, "01:00:00.000"), id);
    // Whatever else the model is called: each rule for its names has this word.
    for (const rule of "or" in match ? match.or : [match])
      assert.match(JSON.stringify(rule), /deepseek/, JSON.stringify(rule));
  }
});

test("the times of the day at which prices may change are all those of the price table", () => {
  const prices = priceTable.providers.flatMap(({ models }) => models.flatMap((model) => model.prices));
  const times = prices.flatMap(({ between }) => between ?? []);
  assert.deepEqual(
    [...new Set(times)].toSorted((a, b) => a - b),
    [...PRICE_CHANGES],
  );
});

test("more kinds of charges than are kept make the cost a lower bound", () => {
  const spending = new Spending(timeSlots([]), 2);
  const add = (model: string) => {
    const one = usageRecord({ upstream: "gateway", model, tokens: tokens({ output: 1_000_000 }) });
    spending.addRequest(one, chargesOf(one).own);
  };
  for (const model of ["claude-sonnet-5", "claude-opus-5-5", "claude-sonnet-5"]) add(model);
  const before = spending.cost(PRICES);
  assert.ok(before.isExact);
  add("gpt-5.4");
  const { amount, isExact } = spending.cost(PRICES);
  assert.deepEqual([amount, isExact], [before.amount, false]);
});
