import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDecimal } from "../../../src/core/price/money.ts";
import { percentOff, rateFor, readRates } from "../../../src/core/price/rates.ts";

test("of several tiers the highest that the input exceeds counts, whatever their order", () => {
  const tiers = [
    { above: 200, price: 3 },
    { above: 100, price: 2 },
  ];
  const { input } = readRates({ input: { base: 1, tiers } }).classes;
  assert.ok(input !== undefined);
  const at = (size: number) => {
    const { price, isLong } = rateFor(input, size);
    return [formatDecimal(price), isLong];
  };
  assert.deepEqual([0, 100, 101, 200, 201].map(at), [
    ["1", false],
    ["1", false],
    ["2", true],
    ["2", true],
    ["3", true],
  ]);
});

test("a discount leaves an exact part of a price", () => {
  assert.deepEqual(
    [0, 12.5, 33.3, 100].map((percent) => formatDecimal(percentOff(percent))),
    ["1", "0.875", "0.667", "0"],
  );
});
