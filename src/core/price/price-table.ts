import { matches, type Match } from "./match.ts";
import { spellingsOf, type Spelling } from "./names.ts";
import type { Medium, MediumRates, Price, RateClass } from "./rate-class.ts";

/**
 * The prices of models, as of a date. It is made when the program is built (adapters/price-table), so that no price is ever
 * requested over the network.
 */
export interface PriceTable {
  /** Where it is from: packages and their versions. */
  source: string;
  /** When the newest of them was published, such as `2026-11-20`. */
  asOf: string;
  /** Each of them. */
  sources: readonly PriceSource[];
  providers: readonly Provider[];
}

/** Where prices are from. */
export interface PriceSource {
  /** A package and its version, or a file that was imported. */
  name: string;
  /** The day on which it was published. */
  asOf: string;
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

/** Prices from a date on, at a time of the day, or on some days; always, with none of these. */
export interface DatedPrices {
  /** Day, from midnight UTC on. */
  from?: string;
  /** Times of the day in UTC, in seconds. The second may be earlier, and is then on the next day. */
  between?: readonly [start: number, end: number];
  /** On which days of the week, in UTC: 0 is Sunday. */
  weekdays?: readonly number[];
  /** Days on which they do not apply, in UTC, such as holidays. */
  except?: readonly string[];
  /** Which of the table's sources they are from; absent for the first. */
  source?: number;
  rates: TableRates;
}

/**
 * Dollars per million tokens, or per thousand calls. Exact decimals, by the shortest text of the number. A class without a price
 * is not priced.
 */
export type TableRates = { [Class in RateClass]?: Price } & {
  /** What other tokens than those of text cost, where it is something else. */
  media?: { readonly [Kind in Medium]?: MediumRates<Price> };
  /** What the service charges for besides, in ways that a record does not tell. */
  others?: readonly string[];
};

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
 * Finds a model by its name, in any spelling (names.ts). At a known provider only that provider's prices count, and those of
 * `alsoServes`: a service may sell another's model for more or less. At an unknown one (null), such as a gateway, those of the
 * provider that the name begins with count, or else the maker's own list price, which is the best that can be known; the makers are
 * those whose `makes` matches.
 */
export function findModel(table: PriceTable, provider: Provider | null, name: string): FoundModel | null {
  const spellings = spellingsOf(name);
  if (provider === null) return findAnywhere(table, spellings);
  for (const spelling of spellings) {
    const found = findAt(table, provider, spelling.name);
    if (found !== null) return found;
  }
  return null;
}

/** Returns the id of the provider that makes a model, by its name in any spelling; null where the table knows none. */
export function findMaker(table: PriceTable, name: string): string | null {
  for (const spelling of spellingsOf(name)) {
    const maker = table.providers.find(({ makes }) => makes !== undefined && matches(makes, spelling.name));
    if (maker !== undefined) return maker.id;
  }
  return null;
}

/** What only Bedrock sells has its price. */
const BEDROCK = "aws";

function findAnywhere(table: PriceTable, spellings: readonly Spelling[]): FoundModel | null {
  for (const { name, provider } of spellings) {
    const said = provider === null ? null : findBy(table, provider, name);
    if (said !== null) return said;
  }
  for (const { name } of spellings)
    for (const maker of table.providers) {
      const made =
        maker.makes !== undefined && matches(maker.makes, name) ? findAt(table, maker, name) : null;
      if (made !== null) return made;
    }
  for (const { name, isBedrock } of spellings) {
    const sold = isBedrock ? findBy(table, BEDROCK, name) : null;
    if (sold !== null) return sold;
  }
  return null;
}

function findBy(table: PriceTable, provider: string, name: string): FoundModel | null {
  const seller = table.providers.find(({ id }) => id === provider);
  return seller === undefined ? null : findAt(table, seller, name);
}

function findAt(table: PriceTable, seller: Provider, name: string): FoundModel | null {
  const others = (seller.alsoServes ?? []).flatMap((id) => table.providers.filter((one) => one.id === id));
  for (const { models } of [seller, ...others]) {
    const model = findAmong(models, name);
    if (model !== undefined) return { provider: seller.id, model };
  }
  return null;
}

/** The models of a provider, so that a name need not be compared with all of them. */
interface ModelIndex {
  /** Where the first model is that has exactly this name. */
  exact: ReadonlyMap<string, number>;
  /** Where those are whose rule has to be asked. */
  ruled: readonly number[];
}

const INDEXES = new WeakMap<readonly PricedModel[], ModelIndex>();

/** Returns the first model that a name fits. */
function findAmong(models: readonly PricedModel[], name: string): PricedModel | undefined {
  let index = INDEXES.get(models);
  if (index === undefined) INDEXES.set(models, (index = indexModels(models)));
  const exact = index.exact.get(name) ?? Infinity;
  for (const at of index.ruled) {
    const model = models[at];
    if (at > exact || model === undefined) break;
    if (matches(model.match, name)) return model;
  }
  return models[exact];
}

function indexModels(models: readonly PricedModel[]): ModelIndex {
  const exact = new Map<string, number>();
  const ruled: number[] = [];
  for (const [at, { match }] of models.entries()) {
    const rules = "or" in match ? match.or : [match];
    for (const rule of rules)
      if ("equals" in rule && !exact.has(rule.equals.toLowerCase())) exact.set(rule.equals.toLowerCase(), at);
    if (!rules.every((rule) => "equals" in rule)) ruled.push(at);
  }
  return { exact, ruled };
}

/** When prices apply: from a time on, in milliseconds since 1970, and at times and on days as in {@link DatedPrices}. */
export interface Period {
  since?: number | undefined;
  between?: DatedPrices["between"] | undefined;
  weekdays?: DatedPrices["weekdays"] | undefined;
  except?: DatedPrices["except"] | undefined;
}

/** Returns when prices apply, which is asked more often than it is read. */
export function periodOf({
  from,
  between,
  weekdays,
  except,
}: Pick<DatedPrices, "from" | "between" | "weekdays" | "except">): Period {
  // All of one shape, because a lookup asks each.
  return { since: from === undefined ? undefined : Date.parse(from), between, weekdays, except };
}

/** Returns the prices that apply at a time, in milliseconds since 1970. */
export function pricesAt<Dated extends Period>(prices: readonly Dated[], at: number): Dated | undefined {
  return prices.findLast((one) => appliesAt(one, at)) ?? prices[0];
}

const DAY_MS = 86_400_000;

/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 4;

/** True when prices apply at a time, in milliseconds since 1970. */
export function appliesAt({ since, between, weekdays, except }: Period, at: number): boolean {
  if (since !== undefined && at < since) return false;
  if (weekdays !== undefined && !weekdays.includes((Math.floor(at / DAY_MS) + FIRST_WEEKDAY) % 7))
    return false;
  if (except !== undefined && except.includes(new Date(at).toISOString().slice(0, 10))) return false;
  if (between === undefined) return true;
  const [start, end] = between;
  const second = (at % DAY_MS) / 1000;
  return start <= end ? second >= start && second < end : second >= start || second < end;
}
