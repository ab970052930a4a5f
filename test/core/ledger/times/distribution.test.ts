import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Distribution, packBucket } from "../../../../src/core/ledger/times/distribution.ts";

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

test("packed buckets are the distribution of their numbers, whatever is asked of it first", () => {
  const bucket = fc.tuple(fc.integer({ min: -400, max: 2_000 }), fc.integer({ min: 1, max: 1_000_000 }));
  fc.assert(
    fc.property(
      fc.array(bucket),
      fc.array(bucket),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (some, more, share) => {
        const counted = new Distribution();
        for (const [number, count] of some) counted.addBucket(number, count);
        const pack = () =>
          Distribution.ofPacked(
            Float64Array.from(some, ([number, count]) => packBucket(number + 400, count)),
            -400,
          );
        assert.equal(pack().quantile(share), counted.quantile(share));
        assert.equal(pack().isEmpty, counted.isEmpty);
        assert.equal(pack().encode(), counted.encode());
        const [sum, grown] = [new Distribution(), pack()];
        sum.addAll(pack());
        for (const [number, count] of more)
          for (const one of [counted, sum, grown]) one.addBucket(number, count);
        for (const one of [sum, grown]) {
          assert.equal(one.quantile(share), counted.quantile(share));
          assert.equal(one.encode(), counted.encode());
        }
      },
    ),
  );
});
