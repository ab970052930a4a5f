import { checkModelPattern } from "../policy/model-pattern.ts";
import type { Price, RateClass } from "../price/rate-class.ts";
import { amount, dictionary, integer, list, object, shortOrObject, text } from "./shape.ts";

/** Dollars per million tokens, per thousand calls, or for each picture and second. More than ten times the dearest model. */
const MAX_PRICE = 10_000;

/** Amounts of money have room for all of them (price/money.ts). */
const PRICE_PLACES = 12;
const DISCOUNT_PLACES = 4;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Checks a day of the calendar: returns what is wrong with it, or null. */
export function checkDay(value: string): string | null {
  const at = DAY.test(value) ? Date.parse(value) : Number.NaN;
  // Date.parse moves February 30th to March.
  const isDay = !Number.isNaN(at) && new Date(at).toISOString().startsWith(value);
  return isDay ? null : 'must be a day such as "2026-11-01"';
}

const price = amount(MAX_PRICE, PRICE_PLACES).optional();

/** More than any prompt has tokens. */
const MAX_PROMPT = 1_000_000_000;

/** A price for each class. Their names are those of `RateClass` in core/price. */
const classes = {
  input: price.describe("Input that is neither read from nor written to the cache."),
  cacheRead: price.describe("Input that is read from the cache."),
  cacheWrite: price.describe(
    "Input that is written to the cache for the service's usual lifetime: 5 or 30 minutes, or one that it does not report.",
  ),
  cacheWrite1h: price.describe("Input that is written to the cache for an hour."),
  cacheWrite12h: price.describe("Input that is written to the cache for 12 hours."),
  output: price.describe("Output, reasoning included."),
  webSearch: price.describe("Web searches by the service itself, per thousand."),
  picture: price.describe("Pictures of a model that reports no tokens, each."),
  videoSecond: price.describe("Seconds of video, each."),
};

const CLASSES = Object.keys(classes) as RateClass[];

const tier = object({
  above: integer(1, MAX_PROMPT).describe("The size of the whole input, cached input included, in tokens."),
  ...classes,
}).describe(
  "The prices of a request whose input is larger. A class that is left out costs the same as below.",
);

/** The prices of a model from a day on. */
const dated = object({
  from: text(checkDay)
    .keywords({ pattern: DAY.source })
    .optional()
    .describe("The first day that these prices apply to, in UTC. Default: they have always applied."),
  ...classes,
  tiers: list(tier)
    .default([])
    .describe('Other prices for long input, e.g. [{ "above": 200000, "input": 6, "output": 22.5 }].'),
}).resolve(({ from, tiers, ...prices }) => {
  if (Object.values(prices).every((one) => one === undefined))
    return { problem: 'has no price; add one, such as "input": 3' };
  const sorted = tiers.toSorted((a, b) => a.above - b.above);
  const limits = new Set(sorted.map(({ above }) => above));
  if (limits.size < sorted.length) return { problem: 'has two tiers with the same "above"; remove one' };
  const resolved: { [Class in RateClass]?: Price } & { from?: string } = from === undefined ? {} : { from };
  for (const name of CLASSES) {
    const base = prices[name];
    const above = sorted.flatMap((one) => (one[name] === undefined ? [] : [{ ...one, price: one[name] }]));
    if (base === undefined && above.length > 0)
      return { problem: `has a tier for "${name}", but no price below it; add "${name}"` };
    if (base === undefined) continue;
    const listed = above.map((one) => ({ above: one.above, price: one.price }));
    resolved[name] = listed.length === 0 ? base : { base, tiers: listed };
  }
  return resolved;
});

/** Prices by pattern of models. Several for one pattern are in the order of their days, the earliest first. */
export const prices = dictionary(
  checkModelPattern,
  shortOrObject(list(dated), dated).resolve((given) => {
    const entries = Array.isArray(given) ? given : [given];
    const days = entries.map(({ from }) => from ?? "");
    if (entries.length === 0) return { problem: "has no prices; add some, or remove it" };
    if (new Set(days).size < days.length)
      return { problem: 'has two entries with the same "from"; remove one' };
    return entries.toSorted((a, b) => ((a.from ?? "") < (b.from ?? "") ? -1 : 1));
  }),
).default({});

/** A discount in percent. */
export const discount = amount(100, DISCOUNT_PLACES).default(0);
