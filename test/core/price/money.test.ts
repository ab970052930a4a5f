import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  addDecimals,
  decimalOf,
  formatDecimal,
  formatDollars,
  formatInColumn,
  formatMoney,
  parseDecimal,
  parseMoney,
  priceOf,
} from "../../../src/core/price/money.ts";
import { percentOff } from "../../../src/core/price/rates.ts";

test("a decimal number is read exactly, and written without an exponent", () => {
  const cases: [text: string, written: string | null][] = [
    ["0", "0"],
    ["3", "3"],
    ["3.0", "3"],
    ["0.075", "0.075"],
    ["1.13e-05", "0.0000113"],
    ["1.5E3", "1500"],
    ["2e+2", "200"],
    ["0.08333333333333334", "0.08333333333333334"],
    ["00.10", "0.1"],
    ["", null],
    [".5", null],
    ["5.", null],
    ["-1", null],
    ["1e1000", null],
    ["1,5", null],
    [" 1", null],
    ["NaN", null],
    ["Infinity", null],
    ["0x10", null],
  ];
  for (const [text, written] of cases) {
    const decimal = parseDecimal(text);
    assert.equal(decimal === null ? null : formatDecimal(decimal), written, text);
  }
});

test("a JavaScript number is the decimal that its shortest text says", () => {
  assert.deepEqual(decimalOf(0.1), { digits: 1n, scale: 1 });
  assert.equal(formatDecimal(addDecimals(decimalOf(0.1), decimalOf(0.2))), "0.3");
  assert.equal(formatDecimal(decimalOf(1e-7)), "0.0000001");
  assert.throws(() => decimalOf(-1), RangeError);
  assert.throws(() => decimalOf(Number.NaN), RangeError);
});

test("every number survives being written and read", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (value) => {
      assert.equal(Number(formatDecimal(decimalOf(Math.abs(value)))), Math.abs(value));
    }),
  );
});

test("every amount survives being written and read", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (amount) => {
      assert.equal(parseMoney(formatMoney(amount)), amount);
    }),
  );
  assert.equal(formatMoney(0n), "0");
  assert.equal(formatMoney(1n), `0.${"0".repeat(29)}1`);
  assert.equal(formatMoney(420_015n * 10n ** 24n), "0.420015");
  assert.equal(parseMoney("one"), null);
});

test("an amount is exact, whatever is added first", () => {
  const price = fc.integer({ min: 0, max: 10 ** 12 }).map((units) => units / 10 ** 8);
  const discount = fc.integer({ min: 0, max: 10 ** 6 }).map((units) => percentOff(units / 10 ** 4));
  const modifier = fc.constantFrom(0.5, 1.1, 1.75, 6).map(decimalOf);
  fc.assert(
    fc.property(
      fc.array(fc.nat(10 ** 9), { minLength: 1 }),
      price,
      discount,
      fc.array(modifier, { maxLength: 3 }),
      (counts, rate, off, modifiers) => {
        const amountOf = (count: number) => priceOf(count, decimalOf(rate), 6, [...modifiers, off]);
        const whole = amountOf(counts.reduce((sum, count) => sum + count));
        assert.equal(
          counts.reduce((sum, count) => sum + amountOf(count), 0n),
          whole,
        );
      },
    ),
  );
});

test("a bill that is finer than any amount is rounded half to even", () => {
  assert.equal(parseMoney(`0.${"0".repeat(29)}15`), 2n);
  assert.equal(parseMoney(`0.${"0".repeat(29)}25`), 2n);
  assert.equal(parseMoney(`0.${"0".repeat(29)}2500001`), 3n);
});

test("people see cents, or three digits that count", () => {
  const cases: [usd: string, shown: string][] = [
    ["0", "$0.00"],
    ["1204.5", "$1,204.50"],
    ["1234567.891", "$1,234,567.89"],
    ["12.3456", "$12.35"],
    ["1", "$1.00"],
    ["0.42", "$0.420"],
    ["0.0333", "$0.0333"],
    ["0.00042", "$0.000420"],
    ["0.000011349", "$0.0000113"],
    ["0.000000000001", "$0.00000000000100"],
    // Half to even.
    ["2.345", "$2.34"],
    ["2.355", "$2.36"],
    ["0.9995", "$1.000"],
  ];
  for (const [usd, shown] of cases) assert.equal(formatDollars(parseMoney(usd) ?? -1n), shown, usd);
});

function column(...usd: string[]): string[] {
  const amounts = usd.map((text) => parseMoney(text) ?? -1n);
  const total = amounts.reduce((sum, amount) => sum + amount);
  return amounts.map((amount) => formatInColumn(amount, total));
}

test("in a column all amounts have as many places, more of them where the sum is below a dollar", () => {
  assert.deepEqual(column("1204.5", "0.333", "0.0051", "0.0049", "0"), [
    "$1,204.50",
    "$0.33",
    "$0.01",
    "<$0.01",
    "$0.00",
  ]);
  assert.deepEqual(column("0.9", "0.00938", "0.00004"), ["$0.9000", "$0.0094", "<$0.0001"]);
  assert.deepEqual(column("0"), ["$0.00"]);
});

test("an amount that is not 0 is never shown as 0", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 20n }), (amount) => {
      assert.match(formatDollars(amount), /[1-9]/);
    }),
  );
});
