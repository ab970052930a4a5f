import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { PairNumbers } from "../../../../src/core/ledger/rollup/pair-numbers.ts";

test("each pair has a number of its own, from 0 on, which it keeps as others are added", () => {
  const number = fc.oneof(fc.nat(3), fc.nat(2 ** 31 - 1));
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number), { maxLength: 400 }), (pairs) => {
      const numbers = new PairNumbers();
      const expected = new Map<string, number>();
      for (const pair of [...pairs, ...pairs]) {
        if (!expected.has(pair.join())) expected.set(pair.join(), expected.size);
        const found = numbers.numberOf(...pair);
        assert.equal(found, expected.get(pair.join()));
        assert.deepEqual([numbers.firstOf(found), numbers.secondOf(found)], pair);
      }
      assert.equal(numbers.size, expected.size);
    }),
  );
});
