import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { costOf, priceBook } from "../../helpers/ledger/prices.ts";
import { anyRecord } from "../../fuzz/records.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const PRICES = priceBook({ anthropic: { baseUrl: "https://api.anthropic.com/v1", discount: 15 } });

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
const flat = fc.constantFrom("claude-sonnet-5", "claude-opus-5-5", "claude-haiku-4-5");

const add = (a: Counts, b: Counts): Counts => ({
  input_uncached: a.input_uncached + b.input_uncached,
  cache_read: a.cache_read + b.cache_read,
  cache_write: a.cache_write + b.cache_write,
  output: a.output + b.output,
});

const sum = (list: readonly bigint[]) => list.reduce((total, one) => total + one, 0n);

test("without tiers the cost of a sum is the sum of the costs, however it is cut", () => {
  fc.assert(
    fc.property(flat, fc.array(counts, { minLength: 1, maxLength: 12 }), (name, sets) => {
      const whole = amountOf(recordOf(name, sets.reduce(add)));
      const parts = sets.map((set) => amountOf(recordOf(name, set)));
      assert.equal(sum(parts), whole);
    }),
  );
});

test("more tokens never cost less", () => {
  fc.assert(
    fc.property(counts, fc.nat(1_000_000), (given, more) => {
      const dearer = { ...given, input_uncached: given.input_uncached + more };
      const model = "claude-sonnet-4-5";
      assert.ok(amountOf(recordOf(model, dearer)) >= amountOf(recordOf(model, given)));
    }),
  );
});

test("any record has a cost of a known kind, and its lines add up to it", () => {
  fc.assert(
    fc.property(anyRecord, flat, fc.boolean(), (record, name, isKnown) => {
      const cost = costOf(isKnown ? { ...record, upstream: "anthropic", model: name } : record, PRICES);
      if (cost.kind === "unknown") return;
      const total = sum(cost.lines.map(({ amount }) => amount));
      if (cost.kind === "unpriced") assert.equal(cost.atLeast, total);
      else if (cost.from === "table" || cost.from === "configuration") assert.equal(cost.amount, total);
      else assert.equal(cost.lines.length, 0);
      // Never a JavaScript number.
      assert.equal(typeof (cost.kind === "priced" ? cost.amount : cost.atLeast), "bigint");
      assert.ok(total >= 0n);
    }),
  );
});
