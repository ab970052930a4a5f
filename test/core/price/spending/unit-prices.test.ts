import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isPaidByTool } from "../../../../src/core/plans/names.ts";
import { priceCharge, priceWorth } from "../../../../src/core/price/charge-cost.ts";
import { chargesOf, TOKEN_CLASSES, type Charge } from "../../../../src/core/price/charge.ts";
import { amountOf, type ChargeAmount } from "../../../../src/core/price/spending/cost-sum.ts";
import { UnitPrices } from "../../../../src/core/price/spending/unit-prices.ts";
import { anyPayer, PRICES, pricedRecord } from "../../../helpers/ledger/priced-record.ts";

function priced(charge: Charge): ChargeAmount {
  const price = isPaidByTool(charge.terms.upstream) ? priceWorth : priceCharge;
  return amountOf(price({ ...charge, tools: {} }, PRICES));
}

function shown({ amount, saved, from, certainty, missing }: ChargeAmount): object {
  const words = missing.map(({ model, what }) => `${model}: ${what}`).toSorted();
  return { amount, saved, from, certainty, missing: words };
}

test("tokens cost by their terms, priced once, what they cost one charge at a time", () => {
  fc.assert(
    fc.property(pricedRecord, anyPayer, (record, to) => {
      const { own, extra } = chargesOf({ ...record, upstream: to });
      for (const charge of [...own, ...extra]) {
        const units = new UnitPrices(charge.terms, PRICES);
        const counts = TOKEN_CLASSES.map(([name]) => charge.tokens[name]);
        assert.deepEqual(shown(units.costOf(counts)), shown(priced(charge)));
        assert.equal(units.amountOf(counts), priced(charge).amount);
      }
    }),
    { numRuns: 1_000 },
  );
});
