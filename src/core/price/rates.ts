import { decimalOf, type Decimal } from "./money.ts";
import { type TableRates } from "./price-table.ts";
import {
  MEDIA,
  RATE_CLASSES,
  type Medium,
  type MediumRates,
  type Price,
  type RateClass,
} from "./rate-class.ts";

/** A price as exact decimals: dollars per million tokens, or per thousand calls. */
export interface Rate {
  base: Decimal;
  /** By the size of the request's input, the smallest first. */
  tiers: readonly { above: number; price: Decimal }[];
}

/** The prices of a model. */
export interface Rates {
  classes: { readonly [Class in RateClass]?: Rate };
  /** Those of other tokens than text, where they are others. */
  media: { readonly [Kind in Medium]?: MediumRates<Rate> };
  /** What is charged besides, in ways that a record does not tell. */
  others: readonly string[];
  /** True when a price depends on the size of the input. */
  hasTiers: boolean;
}

/** Reads prices as they are in the price table and in the configuration. */
export function readRates(
  rates: { [Class in RateClass]?: Price | undefined } & Pick<TableRates, "others" | "media">,
): Rates {
  const classes: { [Class in RateClass]?: Rate } = {};
  for (const name of RATE_CLASSES) {
    const price = rates[name];
    if (price !== undefined) classes[name] = readPrice(price);
  }
  const hasTiers = Object.values(classes).some(({ tiers }) => tiers.length > 0);
  return { classes, media: readMedia(rates.media), others: rates.others ?? [], hasTiers };
}

const NO_MEDIA: Rates["media"] = {};

function readMedia(media: TableRates["media"]): Rates["media"] {
  if (media === undefined) return NO_MEDIA;
  const read: { [Kind in Medium]?: MediumRates<Rate> } = {};
  for (const medium of MEDIA) {
    const prices = Object.entries(media[medium] ?? {});
    if (prices.length > 0)
      read[medium] = Object.fromEntries(prices.map(([name, price]) => [name, readPrice(price)]));
  }
  return read;
}

function readPrice(price: Price): Rate {
  if (typeof price === "number") return { base: decimalOf(price), tiers: [] };
  const tiers = price.tiers.map(({ above, price: tier }) => ({ above, price: decimalOf(tier) }));
  return { base: decimalOf(price.base), tiers: tiers.sort((a, b) => a.above - b.above) };
}

/** Returns the price for a request with so much input, cached input included, and whether that is a long-context price. */
export function rateFor({ base, tiers }: Rate, input: number): { price: Decimal; isLong: boolean } {
  const tier = tiers.findLast(({ above }) => input > above);
  return { price: tier?.price ?? base, isLong: tier !== undefined };
}

/** Returns what is left of one after a discount in percent: 0.875 after 12.5. */
export function percentOff(percent: number): Decimal {
  const { digits, scale } = decimalOf(percent);
  return { digits: 100n * 10n ** BigInt(scale) - digits, scale: scale + 2 };
}
