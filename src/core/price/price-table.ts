import { matches, type Match } from "./match.ts";

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

/**
 * The prices of models, as of a date. It is made when the program is built (adapters/price-table), so that no price is ever
 * requested over the network.
 */
export interface PriceTable {
  /** Where it is from: a package and its version. */
  source: string;
  /** When that was published, such as `2026-09-23`. */
  asOf: string;
  providers: readonly Provider[];
}

/** A service with its models. */
export interface Provider {
  id: string;
  /** A regular expression for the beginning of its base URL. */
  api: string;
  /** The names of the models that it makes; absent if it only serves those of others. */
  makes?: Match;
  /** Other providers whose models and prices it has, too. */
  alsoServes?: readonly string[];
  models: readonly PricedModel[];
}

/** A model of a provider. Its `id` stands for all names that `match` matches. */
export interface PricedModel {
  id: string;
  match: Match;
  /** In tokens. */
  contextWindow?: number;
  /** The last one that applies counts; where none does, the first. */
  prices: readonly DatedPrices[];
}

/** Prices from a date on, or at a time of the day; always, with neither. */
export interface DatedPrices {
  /** Day, from midnight UTC on. */
  from?: string;
  /** Times of the day in UTC, in seconds. The second may be earlier, and is then on the next day. */
  between?: readonly [start: number, end: number];
  rates: TableRates;
}

/**
 * Dollars per million tokens, or per thousand calls. Exact decimals, by the shortest text of the number. A class without a price
 * is not priced.
 */
export type TableRates = { [Class in RateClass]?: Price } & {
  /** What the service charges for besides, in ways that a record does not tell. */
  others?: readonly string[];
};

/** A price, or several by the size of the request's input. */
export type Price = number | TieredPrice;

/** A tier's price is that of the whole request as soon as its input is larger than `above` tokens. */
interface TieredPrice {
  base: number;
  tiers: readonly { above: number; price: number }[];
}

/** A model, and the provider whose prices it has. */
export interface FoundModel {
  provider: string;
  model: PricedModel;
}

/** Returns the provider that serves at a base URL; null when the table does not know it. */
export function findProvider(table: PriceTable, baseUrl: string): Provider | null {
  return table.providers.find(({ api }) => new RegExp(`^(?:${api})`).test(baseUrl)) ?? null;
}

/**
 * Finds a model by its name. At a known provider only that provider's prices count, and those of `alsoServes`: a service may sell
 * another's model for more or less. At an unknown one (null), such as a gateway, the maker's own list price counts, which is the
 * best that can be known; the makers are those whose `makes` matches.
 */
export function findModel(table: PriceTable, provider: Provider | null, name: string): FoundModel | null {
  const plain = name.toLowerCase().trim();
  const seller =
    provider ?? table.providers.find(({ makes }) => makes !== undefined && matches(makes, plain));
  if (seller === undefined) return null;
  return findAt(table, seller, plain) ?? findAt(table, seller, writeDate(plain));
}

function findAt(table: PriceTable, seller: Provider, name: string): FoundModel | null {
  const others = (seller.alsoServes ?? []).flatMap((id) => table.providers.filter((one) => one.id === id));
  for (const { models } of [seller, ...others]) {
    const model = models.find(({ match }) => matches(match, name));
    if (model !== undefined) return { provider: seller.id, model };
  }
  return null;
}

/** Turns `gpt-5.4-20260305` into `gpt-5.4-2026-03-05`: services write a model's date in either way. */
function writeDate(name: string): string {
  return name.replaceAll(/-(20\d{2})(\d{2})(\d{2})(?=-|:|$)/g, "-$1-$2-$3");
}

/** When prices apply: from a time on, in milliseconds since 1970, or at a time of the day; always, with neither. */
export interface Period extends Pick<DatedPrices, "between"> {
  since?: number;
}

/** Returns when prices apply, which is asked more often than it is read. */
export function periodOf({ from, between }: Pick<DatedPrices, "from" | "between">): Period {
  if (from !== undefined) return { since: Date.parse(from) };
  return between === undefined ? {} : { between };
}

/** Returns the prices that apply at a time, in milliseconds since 1970. */
export function pricesAt<Dated extends Period>(prices: readonly Dated[], at: number): Dated | undefined {
  return prices.findLast((one) => appliesAt(one, at)) ?? prices[0];
}

/** True when prices apply at a time, in milliseconds since 1970. */
export function appliesAt({ since, between }: Period, at: number): boolean {
  if (since !== undefined) return at >= since;
  if (between === undefined) return true;
  const [start, end] = between;
  const second = (at % 86_400_000) / 1000;
  return start <= end ? second >= start && second < end : second >= start || second < end;
}
