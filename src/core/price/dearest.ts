import { multiplyDecimals, type Decimal } from "./money.ts";
import { RATE_CLASSES, type RateClass } from "./rate-class.ts";
import { rateFor, type Rates } from "./rates.ts";

/** The dearest prices, each perhaps of another model: dollars per million tokens, or per thousand calls. */
export type DearestPrices = { readonly [Class in RateClass]?: Decimal };

/** The sizes of prompts for which a price is sought: from the smallest to the largest. */
interface Sizes {
  least: number;
  most: number;
}

const ALL_SIZES: Sizes = { least: 0, most: Infinity };

/** Returns the dearest price of each class among rates, for prompts of some sizes, after a discount. */
export function findDearest(
  all: Iterable<Rates>,
  discounted: Decimal | null,
  { least, most }: Sizes = ALL_SIZES,
): DearestPrices {
  const dearest: { [Class in RateClass]?: Decimal } = {};
  for (const { classes } of all)
    for (const name of RATE_CLASSES) {
      const rate = classes[name];
      if (rate === undefined) continue;
      const tiers = rate.tiers.filter(({ above }) => most > above).map((tier) => tier.price);
      for (const price of [rateFor(rate, least).price, ...tiers])
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
