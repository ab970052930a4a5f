import { checkModelPattern } from "../policy/model-pattern.ts";
import { amount, dictionary, list, object, shortOrObject, text } from "./shape.ts";

/** Dollars per million tokens, or per thousand calls. More than ten times the dearest model. */
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

/** The prices of a model from a day on. Their names are those of `RateClass` in core/price. */
const dated = object({
  from: text(checkDay)
    .keywords({ pattern: DAY.source })
    .optional()
    .describe("The first day that these prices apply to, in UTC. Default: they have always applied."),
  input: price.describe("Input that is neither read from nor written to the cache."),
  cacheRead: price.describe("Input that is read from the cache."),
  cacheWrite: price.describe(
    "Input that is written to the cache for the service's usual lifetime: 5 or 30 minutes, or one that it does not report.",
  ),
  cacheWrite1h: price.describe("Input that is written to the cache for an hour."),
  cacheWrite12h: price.describe("Input that is written to the cache for 12 hours."),
  output: price.describe("Output, reasoning included."),
  webSearch: price.describe("Web searches by the service itself, per thousand."),
}).resolve(({ from, ...prices }) =>
  Object.values(prices).every((one) => one === undefined)
    ? { problem: 'has no price; add one, such as "input": 3' }
    : { ...(from === undefined ? {} : { from }), ...prices },
);

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
