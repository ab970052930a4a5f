/** What is priced: tokens of a class, calls of a tool of the service, pictures, and seconds of video. */
export const RATE_CLASSES = [
  "input",
  "cacheRead",
  "cacheWrite",
  "cacheWrite1h",
  "cacheWrite12h",
  "output",
  "webSearch",
  "picture",
  "videoSecond",
] as const;
export type RateClass = (typeof RATE_CLASSES)[number];

/** What is priced by number, by its name in `server_tools` of a record: what its price is called, and how many that is for. */
export const PRICED_BY_NUMBER = {
  web_search: { rateClass: "webSearch", per: 1000 },
  picture: { rateClass: "picture", per: 1 },
  video_second: { rateClass: "videoSecond", per: 1 },
} as const satisfies Record<string, { rateClass: RateClass; per: 1000 | 1 }>;
export type PricedByNumber = keyof typeof PRICED_BY_NUMBER;

export function isPricedByNumber(name: string): name is PricedByNumber {
  return Object.hasOwn(PRICED_BY_NUMBER, name);
}

/** How many of a class its price is for. */
export function perOf(rateClass: RateClass): 1_000_000 | 1000 | 1 {
  return Object.values(PRICED_BY_NUMBER).find((one) => one.rateClass === rateClass)?.per ?? 1_000_000;
}

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
