/** What is priced: tokens of a class, or calls of a tool of the service. */
export const RATE_CLASSES = [
  "input",
  "cacheRead",
  "cacheWrite",
  "cacheWrite1h",
  "cacheWrite12h",
  "output",
  "webSearch",
] as const;
export type RateClass = (typeof RATE_CLASSES)[number];

/** Kinds of tokens besides text that may have prices of their own. */
export const MEDIA = ["audio", "image", "video"] as const;
export type Medium = (typeof MEDIA)[number];

/** The prices of one of them: those that differ from the prices of text. */
export type MediumRates<Given> = { [Class in "input" | "cacheRead" | "output"]?: Given };

/** A price, or several by the size of the request's input. */
export type Price = number | TieredPrice;

/** A tier's price is that of the whole request as soon as its input is larger than `above` tokens. */
interface TieredPrice {
  base: number;
  tiers: readonly { above: number; price: number }[];
}
