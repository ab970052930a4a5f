import type { Config } from "../config/config.ts";
import { matchesModel } from "../policy/model-pattern.ts";
import { appliesAt, periodOf } from "./price-table.ts";
import type { DatedPrices, Period, PriceSource, PriceTable } from "./price-table.ts";
import { RATE_CLASSES, type Price, type RateClass } from "./rate-class.ts";
import { readRates, type Rates } from "./rates.ts";

/** Rates, when they apply, and where they are from: null for the configuration. */
export type DatedRates = Rates & Period & { source: PriceSource | null };

/** Reads prices of the configuration. */
export function readConfigured({ from, ...rates }: Config["prices"][string][number]): DatedRates {
  return { ...periodOf(from === undefined ? {} : { from }), ...readRates(rates), source: null };
}

/** Reads prices of a table. */
export function readListed(dated: DatedPrices, { sources }: PriceTable): DatedRates {
  return { ...periodOf(dated), ...readRates(dated.rates), source: sources[dated.source ?? 0] ?? null };
}

/** Returns the rates of each pattern that matches a model, in the order of the file. */
export function matchingRates(prices: Config["prices"], model: string): DatedRates[][] {
  return Object.entries(prices)
    .filter(([pattern]) => matchesModel([pattern], model))
    .map(([, dated]) => dated.map(readConfigured));
}

/** Returns the newest rates that apply, of the first pattern that has any. Each pattern's are in the order of their dates. */
export function findConfigured(
  patterns: readonly (readonly DatedRates[])[],
  at: number,
): DatedRates | undefined {
  for (const dated of patterns) {
    const found = dated.findLast((one) => appliesAt(one, at));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** True for prices that do not always apply. */
export function isChanging(prices: readonly DatedRates[]): boolean {
  return prices.some(
    ({ since, between, weekdays }) => since !== undefined || between !== undefined || weekdays !== undefined,
  );
}

/** Returns the sizes of a prompt above which one of these prices is another one, in their order. */
export function limitsIn(prices: readonly { [Class in RateClass]?: Price | undefined }[]): number[] {
  const limits: number[] = [];
  for (const rates of prices)
    for (const name of RATE_CLASSES) {
      const price = rates[name];
      if (typeof price === "object") for (const { above } of price.tiers) limits.push(above);
    }
  return inOrder(limits);
}

/** The same of rates. */
export function limitsOf(rates: readonly Rates[]): number[] {
  const tiers = rates.flatMap(({ classes }) => Object.values(classes).flatMap((rate) => rate.tiers));
  return inOrder(tiers.map(({ above }) => above));
}

function inOrder(limits: readonly number[]): number[] {
  return [...new Set(limits)].sort((a, b) => a - b);
}
