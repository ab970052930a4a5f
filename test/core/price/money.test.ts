import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  addDecimals,
  decimalOf,
  formatDecimal,
  formatDollars,
  formatMoney,
  parseDecimal,
  parseMoney,
  priceOf,
} from "../../../src/core/price/money.ts";

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
  assert.equal(formatMoney(1n), "0.000000000001");
  assert.equal(formatMoney(420_015n * 10n ** 6n), "0.420015");
  assert.equal(parseMoney("one"), null);
});

test("an amount is rounded once, half to even", () => {
  // 0.5, 1.5, 2.5 and 3.5 of the smallest unit; then just above and below a half.
  const rate = decimalOf(0.0000005);
  assert.deepEqual(
    [1, 3, 5, 7].map((count) => priceOf(count, rate, 6)),
    [0n, 2n, 2n, 4n],
  );
  assert.equal(priceOf(1, decimalOf(0.0000005000001), 6), 1n);
  assert.equal(priceOf(1, decimalOf(0.0000004999999), 6), 0n);
  // Rounded after the factors, not between them: 0.4 * 5 = 2.
  assert.equal(priceOf(1, decimalOf(0.0000004), 6, [decimalOf(5)]), 2n);
  assert.equal(parseMoney("0.0000000000015"), 2n);
  assert.equal(parseMoney("0.0000000000025"), 2n);
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
    ["0.000000000001", "$0.000000000001"],
    // Half to even.
    ["2.345", "$2.34"],
    ["2.355", "$2.36"],
    ["0.9995", "$1.000"],
  ];
  for (const [usd, shown] of cases) assert.equal(formatDollars(parseMoney(usd) ?? -1n), shown, usd);
});

test("an amount that is not 0 is never shown as 0", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 20n }), (amount) => {
      assert.match(formatDollars(amount), /[1-9]/);
    }),
  );
});
