import {
  findModel,
  pricesAt,
  periodOf,
  type DatedPrices,
  type PricedModel,
  type PriceSource,
  type PriceTable,
  type Provider,
  type TableRates,
} from "./price-table.ts";
import { RATE_CLASSES, type Price, type RateClass } from "./rate-class.ts";

/** Two sources that disagree on a model. The newer one counts from its date on, the older one before. */
export interface Contradiction {
  provider: string;
  model: string;
  what: readonly { class: RateClass; older: Price | undefined; newer: Price }[];
}

/**
 * Adds the prices of another source to a table; `source` must not be older than those of the table. What the table does not have
 * is added. Where the two disagree, the newer price counts from the day of its source on, and the older one before: a source does
 * not say since when its price has applied. What a source does not say (a class, a tier, a time of the day) is no contradiction.
 */
export function addSource(
  table: PriceTable,
  source: PriceSource,
  added: readonly Provider[],
): { table: PriceTable; contradictions: Contradiction[] } {
  const contradictions: Contradiction[] = [];
  const number = table.sources.length;
  const rank = ({ id }: Provider) => table.providers.find((one) => one.id === id)?.alsoServes?.length ?? 0;
  const providers = table.providers.map((one) => ({ ...one, models: [...one.models] }));
  const combined = { ...table, providers };
  // Those that also serve the models of others come after them.
  for (const { models, ...service } of added.toSorted((a, b) => rank(a) - rank(b))) {
    let provider = providers.find(({ id }) => id === service.id);
    if (provider === undefined) providers.push((provider = { ...service, models: [] }));
    const older: Provider = { ...provider, models: [...provider.models] };
    for (const model of models) {
      const contradiction = addModel({ combined, provider: older, models: provider.models }, model, {
        number,
        asOf: source.asOf,
      });
      if (contradiction !== null) contradictions.push(contradiction);
    }
  }
  const sources = [...table.sources, source];
  return {
    table: { ...combined, source: nameOf(sources), asOf: newest(sources), sources },
    contradictions,
  };
}

/** Names sources in one phrase. */
export function nameOf(sources: readonly PriceSource[]): string {
  return sources.map(({ name }) => name).join(" and ");
}

function newest(sources: readonly PriceSource[]): string {
  return sources.reduce((day, { asOf }) => (asOf > day ? asOf : day), "");
}

function addModel(
  { combined, provider, models }: { combined: PriceTable; provider: Provider; models: PricedModel[] },
  model: PricedModel,
  source: { number: number; asOf: string },
): Contradiction | null {
  const prices = model.prices.map((one) => ({ ...one, source: source.number }));
  const known = findModel(combined, provider, model.id)?.model;
  if (known === undefined) {
    models.push({ ...model, prices });
    return null;
  }
  const isSame = known.id.toLowerCase() === model.id.toLowerCase();
  const at = isSame ? models.indexOf(known) : -1;
  const what = compare(known.prices, model.prices, source.asOf);
  if (what.length === 0) {
    if (at !== -1) models[at] = fill(known, model, source.number);
    return null;
  }
  const both = { ...model, match: known.match, prices: [...known.prices, ...datedFrom(prices, source.asOf)] };
  if (at !== -1) models[at] = { ...known, prices: both.prices };
  // Before the model that stood for its name until now.
  else models.unshift({ ...both, match: model.match });
  return { provider: provider.id, model: model.id, what };
}

/** Returns prices that count from a day on, whatever they say of the time before. */
export function datedFrom(prices: readonly DatedPrices[], day: string): DatedPrices[] {
  return prices.map((one) => ({ ...one, from: one.from === undefined || one.from < day ? day : one.from }));
}

/** Returns where newer prices disagree with all of the older ones of that day, whatever the time. */
export function compare(
  older: readonly DatedPrices[],
  newer: readonly DatedPrices[],
  asOf: string,
): Contradiction["what"] {
  const at = Date.parse(asOf);
  const usual =
    pricesAt(
      older.map((one) => ({ ...one, ...periodOf(withoutTimes(one)) })),
      at,
    )?.rates ?? {};
  const timed = older.filter(({ between }) => between !== undefined).map(({ rates }) => rates);
  const present =
    pricesAt(
      newer.map((one) => ({ ...one, ...periodOf(one) })),
      at,
    )?.rates ?? {};
  const isAny = (name: RateClass, price: Price) =>
    [usual, ...timed].some((rates) => agree(rates[name], price));
  return RATE_CLASSES.flatMap((name) => {
    const price = present[name];
    if (price === undefined || usual[name] === undefined || isAny(name, price)) return [];
    return [{ class: name, older: usual[name], newer: price }];
  });
}

/** Those at a time of the day only never count as the usual ones. */
function withoutTimes({ from, between }: DatedPrices): Pick<DatedPrices, "from"> {
  if (between !== undefined) return { from: "9999-12-31" };
  return from === undefined ? {} : { from };
}

/** True when a newer price says nothing else. It may leave out tiers, and have a limit that is one token away. */
function agree(older: Price | undefined, newer: Price): boolean {
  if (older === undefined || baseOf(older) !== baseOf(newer)) return false;
  if (typeof newer === "number") return true;
  const tiers = typeof older === "number" ? [] : older.tiers;
  return (
    tiers.length === newer.tiers.length &&
    newer.tiers.every(
      ({ above, price }, at) => tiers[at]?.price === price && Math.abs(above - (tiers[at]?.above ?? 0)) <= 1,
    )
  );
}

function baseOf(price: Price): number {
  return typeof price === "number" ? price : price.base;
}

/** Adds the classes and the context window that a model lacks. They count at all times at which it has prices. */
function fill(known: PricedModel, more: PricedModel, source: number): PricedModel {
  const last = known.prices.findLast(({ between }) => between === undefined);
  const rates = more.prices.at(-1)?.rates ?? {};
  const missing: TableRates = {};
  for (const name of RATE_CLASSES) {
    const price = rates[name];
    if (price !== undefined && last?.rates[name] === undefined) missing[name] = price;
  }
  const window = known.contextWindow ?? more.contextWindow;
  const prices =
    Object.keys(missing).length === 0
      ? known.prices
      : known.prices.map((one) =>
          one === last ? { ...one, source, rates: { ...one.rates, ...missing } } : one,
        );
  return { ...known, ...(window === undefined ? {} : { contextWindow: window }), prices };
}
