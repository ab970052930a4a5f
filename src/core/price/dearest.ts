import { multiplyDecimals, type Decimal } from "./money.ts";
import { RATE_CLASSES, type RateClass } from "./rate-class.ts";
import type { Rates } from "./rates.ts";

/** The dearest prices, each perhaps of another model: dollars per million tokens, or per thousand calls. */
export type DearestPrices = { readonly [Class in RateClass]?: Decimal };

/** Returns the dearest price of each class among rates, tiers included, after a discount. */
export function findDearest(all: Iterable<Rates>, discounted: Decimal | null): DearestPrices {
  const dearest: { [Class in RateClass]?: Decimal } = {};
  for (const { classes } of all)
    for (const name of RATE_CLASSES) {
      const rate = classes[name];
      for (const price of rate === undefined ? [] : [rate.base, ...rate.tiers.map((tier) => tier.price)])
        if (isMore(price, dearest[name])) dearest[name] = price;
    }
  if (discounted !== null)
    for (const name of RATE_CLASSES) {
      const price = dearest[name];
      if (price !== undefined) dearest[name] = multiplyDecimals(price, discounted);
    }
  return dearest;
}

function isMore(one: Decimal, other: Decimal | undefined): boolean {
  if (other === undefined) return true;
  return one.digits * 10n ** BigInt(other.scale) > other.digits * 10n ** BigInt(one.scale);
}
