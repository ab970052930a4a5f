import type { PricedModel, Provider } from "../price-table.ts";

/** Prices that were read from a file. */
export interface ReadPrices {
  providers: readonly Provider[];
  /** What of it cannot be used, and is left out: a service, a model. */
  leftOut: readonly string[];
  /** The day that the file says it is of; null when it says none. */
  asOf: string | null;
}

/** More than ten times the dearest model: what is above it is in another unit. */
const MAX_PRICE = 10_000;

/** Returns a price in dollars per million tokens, or per thousand calls; null for something else. */
export function asPrice(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= MAX_PRICE ? value : null;
}

/** Returns the texts of a list. */
export function asWords(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** Returns services with their models, in the order in which they first come. Each has to be given its `api`. */
export function groupByProvider(
  models: readonly { provider: string; model: PricedModel }[],
): (Provider & { models: PricedModel[] })[] {
  const found = new Map<string, Provider & { models: PricedModel[] }>();
  for (const { provider, model } of models) {
    let one = found.get(provider);
    if (one === undefined) found.set(provider, (one = { id: provider, api: "", models: [] }));
    one.models.push(model);
  }
  return [...found.values()];
}
