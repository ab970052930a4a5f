import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Distribution } from "../../../../src/core/ledger/times/distribution.ts";

test("a quantile is within 1 % of the number at that rank, whatever the numbers", () => {
  const positive = fc.double({ min: 0.001, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(
      fc.array(positive, { minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (numbers, share) => {
        const distribution = new Distribution();
        for (const number of numbers) distribution.add(number);
        const rank = Math.max(1, Math.ceil(share * numbers.length));
        const exact = numbers.toSorted((one, other) => one - other)[rank - 1] ?? NaN;
        const found = distribution.quantile(share) ?? NaN;
        assert.ok(Math.abs(found - exact) <= 0.0101 * exact, `${found} for ${exact}`);
      },
    ),
  );
});

test("without numbers there is no quantile, and zero is no fault", () => {
  const distribution = new Distribution();
  assert.equal(distribution.quantile(0.5), null);
  distribution.add(0);
  assert.ok((distribution.quantile(0.5) ?? 1) < 0.01);
});
