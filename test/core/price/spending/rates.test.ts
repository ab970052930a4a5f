import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Rates } from "../../../../src/core/price/spending/rates.ts";

const rate = fc.oneof(
  fc.constant(0n),
  // Prices of tokens: few digits, at some place.
  fc
    .tuple(fc.bigInt({ min: -10_000n, max: 10_000n }), fc.nat(30))
    .map(([digits, place]) => digits * 10n ** BigInt(place)),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
);
const count = fc.oneof(fc.nat(100_000), fc.maxSafeNat());

test("what is counted in steps comes to what exact multiplication says, also where the numbers are large", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(rate, count), { maxLength: 10 }), fc.nat(3), (counted, first) => {
      const rates = new Rates(counted.map(([one]) => one));
      const counts = [...Array.from({ length: first }, () => 7), ...counted.map(([, many]) => many)];
      const expected = counted.reduce((sum, [one, many]) => sum + one * BigInt(many), 0n);
      assert.equal(rates.times(counts, first), expected);
    }),
    { numRuns: 1_000 },
  );
});
