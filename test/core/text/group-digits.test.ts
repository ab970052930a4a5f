import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { groupDigits } from "../../../src/core/text/group-digits.ts";

for (const [number, grouped] of [
  ["", ""],
  ["7", "7"],
  ["999", "999"],
  ["1000", "1,000"],
  ["123456", "123,456"],
  ["1234567", "1,234,567"],
  ["-100", "-100"],
  ["-1000", "-1,000"],
  ["1e+210", "1e+210"],
  ["Infinity", "Infinity"],
] as const)
  test(`"${number}" is written "${grouped}"`, () => {
    assert.equal(groupDigits(number), grouped);
  });

test("every number has a comma where three, six and so on digits follow a digit", () => {
  const numbers = fc.oneof(
    fc.bigInt(),
    fc.double(),
    fc.integer().map((digits) => digits / 1000),
  );
  fc.assert(
    fc.property(numbers, (number) => {
      const [whole = ""] = String(number).split(".");
      assert.equal(groupDigits(whole), whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ","));
    }),
  );
});
