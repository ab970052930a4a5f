import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Sums } from "../../../../src/local/dashboard/page/feed-types.ts";
import {
  describeDifferenceOf,
  describePoints,
  differenceOf,
} from "../../../../src/local/dashboard/page/overview/difference.ts";
import { addGroups } from "../../../../src/local/dashboard/page/overview/groups.ts";

function sums(cost: string | null, isExact = true): Sums {
  return { cost_usd: cost, cost_is_exact: isExact, unpriced: [], requests: 1, failed: 0 } as unknown as Sums;
}

/** Hundred-millionths of a dollar, mostly of usual sizes. */
const AMOUNT = fc
  .tuple(fc.constantFrom(1n, 100n, 10_000n, 1_000_000n, 100_000_000n), fc.bigInt({ min: 1n, max: 9_999n }))
  .map(([size, digits]) => size * digits);

function dollarsOf(amount: bigint): string {
  const text = amount.toString().padStart(9, "0");
  return `${text.slice(0, -8)}.${text.slice(-8)}`;
}

test("a difference is the exact one with its sign, in cents from a dollar on, and nothing only where the costs are equal", () => {
  fc.assert(
    fc.property(AMOUNT, AMOUNT, (one, other) => {
      const [now, before] = [sums(dollarsOf(one)), sums(dollarsOf(other))];
      const exact = Number(one - other) / 1e8;
      assert.ok(Math.abs(differenceOf(now, before) - exact) <= 1e-9 * Math.abs(exact));
      const shown = describeDifferenceOf(now, before);
      const [, sign, digits = "", decimals = ""] = /^([+−]?)\$([\d,]+)\.(\d+)$/.exec(shown) ?? [];
      assert.equal(sign, exact > 0 ? "+" : exact < 0 ? "−" : "", shown);
      const size = Number(`${digits.replaceAll(",", "")}.${decimals}`);
      const unit = 10 ** -decimals.length;
      assert.ok(Math.abs(size - Math.abs(exact)) <= 0.5 * unit + 1e-9, shown);
      assert.equal(size === 0, exact === 0, shown);
      if (Math.abs(exact) >= 1 || exact === 0) assert.equal(decimals.length, 2, shown);
    }),
    { numRuns: 2_000 },
  );
});

for (const [one, other, shown] of [
  ["19.73", "12.03", "+$7.70"],
  // Not the cent more that the shown costs would give.
  ["6.724", "8.796", "−$2.07"],
  ["1.00002", "1.00001", "+$0.0000100"],
  ["5", "5", "$0.00"],
  ["0", "0", ""],
] as const)
  test(`$${one} after $${other} is ${shown === "" ? "no difference" : shown}`, () => {
    assert.equal(describeDifferenceOf(sums(one), sums(other)), shown);
  });

for (const [isNow, isBefore, sign] of [
  [true, true, ""],
  [false, true, "≥"],
  [true, false, "≤"],
  [false, false, ""],
] as const)
  test(`a difference of ${isNow ? "an exact cost" : "at least a cost"} and ${isBefore ? "an exact one" : "at least one"} has "${sign}"`, () => {
    assert.equal(describeDifferenceOf(sums("3", isNow), sums("5", isBefore)), `${sign}−$2.00`);
  });

test("points are those between two shares, and are none only where the shares are equal", () => {
  assert.equal(describePoints(0.85, 0.89), "−4 points");
  assert.equal(describePoints(0.5, 0.49), "+1 point");
  assert.equal(describePoints(0.501, 0.5), "+0.1 points");
  assert.equal(describePoints(0.25, 0.25), "");
});

test("costs of several times are added exactly", () => {
  const rows = ["0.1", "0.2", "0.7"].map((cost) => ({ ...sums(cost), tool: "zed" }));
  assert.equal(addGroups(rows, "tool")[0]?.cost_usd, "1");
});
