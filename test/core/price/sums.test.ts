import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { costOf, priceBook } from "../../helpers/ledger/prices.ts";
import { anyRecord } from "../../fuzz/records.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const PRICES = priceBook(
  { anthropic: { baseUrl: "https://api.anthropic.com/v1", discount: 15 } },
  { house: { input: 0.2999, cacheRead: 0.03, cacheWrite: 0.37, output: 1.4999 } },
);

const counts = fc.record({
  input_uncached: fc.nat(10_000_000),
  cache_read: fc.nat(10_000_000),
  cache_write: fc.nat(10_000_000),
  output: fc.nat(10_000_000),
});
type Counts = typeof counts extends fc.Arbitrary<infer Of> ? Of : never;

function recordOf(model: string, given: Counts): UsageRecord {
  return usageRecord({ upstream: "anthropic", model, tokens: tokens(given), service_tier: "batch" });
}

function amountOf(record: UsageRecord): bigint {
  const cost = costOf(record, PRICES);
  assert.ok(cost.kind === "priced");
  return cost.amount;
}

/** Models without tiers. */
const model = fc.constantFrom("claude-sonnet-5", "claude-opus-5-5", "claude-haiku-4-5");

test("without tiers the cost of a sum is the sum of the costs, however it is cut", () => {
  const add = (a: Counts, b: Counts): Counts => ({
    input_uncached: a.input_uncached + b.input_uncached,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
  });
  fc.assert(
    fc.property(model, fc.array(counts, { minLength: 1, maxLength: 12 }), (name, sets) => {
      const whole = amountOf(recordOf(name, sets.reduce(add)));
      const parts = sets.map((set) => amountOf(recordOf(name, set)));
      assert.equal(
        parts.reduce((sum, part) => sum + part, 0n),
        whole,
      );
    }),
  );
});

test("the order of additions does not matter, as it does for floating point", () => {
  fc.assert(
    fc.property(fc.array(counts, { maxLength: 20 }), (sets) => {
      const amounts = sets.map((set) => amountOf(recordOf("claude-sonnet-5", set)));
      const sum = (list: bigint[]) => list.reduce((total, one) => total + one, 0n);
      assert.equal(sum(amounts), sum(amounts.toReversed()));
    }),
  );
});

test("more tokens never cost less", () => {
  fc.assert(
    fc.property(counts, fc.nat(1_000_000), (given, more) => {
      const dearer = { ...given, input_uncached: given.input_uncached + more };
      const record = (set: Counts) => recordOf("claude-sonnet-4-5", set);
      assert.ok(amountOf(record(dearer)) >= amountOf(record(given)));
    }),
  );
});

test("any record has a cost of a known kind, and its lines add up to it", () => {
  fc.assert(
    fc.property(anyRecord, model, fc.boolean(), (record, name, isKnown) => {
      const cost = costOf(isKnown ? { ...record, upstream: "anthropic", model: name } : record, PRICES);
      if (cost.kind === "unknown") return;
      const sum = cost.lines.reduce((total, line) => total + line.amount, 0n);
      if (cost.kind === "unpriced") assert.equal(cost.atLeast, sum);
      else if (cost.from === "table" || cost.from === "configuration") assert.equal(cost.amount, sum);
      else assert.equal(cost.lines.length, 0);
      assert.ok(sum >= 0n);
    }),
  );
});
