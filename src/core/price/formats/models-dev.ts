import { isObject, type JsonObject } from "../../json.ts";
import type { PricedModel, Provider, TableRates } from "../price-table.ts";
import type { RateClass } from "../rate-class.ts";
import { asPrice, groupByProvider, type ReadPrices } from "./read-prices.ts";

/** What models.dev calls services that have another name in the price table. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "amazon-bedrock": "aws",
  "cloudflare-workers-ai": "cloudflare",
  "fireworks-ai": "fireworks",
  "google-vertex": "google",
  "google-vertex-anthropic": "google",
  togetherai: "together",
  vercel: "vercel-ai-gateway",
  xai: "x-ai",
};

const CLASSES: readonly (readonly [listed: string, RateClass])[] = [
  ["input", "input"],
  ["cache_read", "cacheRead"],
  ["cache_write", "cacheWrite"],
  ["output", "output"],
];

/** The limit of what models.dev calls `context_over_200k`, which lists without `tiers` have. */
const OLD_LIMIT = 200_000;

/** Reads the list of models.dev (https://models.dev/api.json). Returns null for something else. */
export function readModelsDev(data: unknown): ReadPrices | null {
  if (!isObject(data)) return null;
  const services = Object.entries(data);
  if (!services.some(([, service]) => isObject(service) && isObject(service["models"]))) return null;
  const leftOut: string[] = [];
  const apis = new Map<string, string>();
  const models = services.flatMap(([key, service]) => {
    if (!isObject(service) || !isObject(service["models"])) return [];
    const provider = PROVIDERS[key] ?? key;
    if (typeof service["api"] === "string") apis.set(provider, service["api"]);
    return Object.entries(service["models"]).flatMap(([id, entry]) => {
      const cost = isObject(entry) && isObject(entry["cost"]) ? entry["cost"] : null;
      if (!isObject(entry) || cost === null || isUnknown(id, cost)) return [];
      const model = readModel(id, entry, cost);
      if (model !== null) return [{ provider, model }];
      leftOut.push(`${key}: ${id}`);
      return [];
    });
  });
  const providers = groupByProvider(models).map((one): Provider => ({
    ...one,
    api: apiOf(apis.get(one.id)),
  }));
  return { providers, leftOut, asOf: null };
}

/** True for a plan with a monthly price, where all prices are 0. */
function isUnknown(id: string, { input, output }: JsonObject): boolean {
  return input === 0 && output === 0 && !id.endsWith(":free");
}

/** Returns a pattern for a base URL; empty for none. */
function apiOf(url: string | undefined): string {
  return url?.startsWith("https://") === true ? url.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`) : "";
}

function readModel(id: string, entry: JsonObject, cost: JsonObject): PricedModel | null {
  const tiers = tiersOf(cost);
  if (tiers === null) return null;
  const rates: TableRates = {};
  for (const [listed, name] of CLASSES) {
    if (cost[listed] === undefined) continue;
    const base = asPrice(cost[listed]);
    const above = tiers.flatMap(([limit, prices]) =>
      prices[listed] === undefined ? [] : [{ above: limit, price: asPrice(prices[listed]) }],
    );
    const known = above.flatMap(({ above: limit, price }) =>
      price === null ? [] : [{ above: limit, price }],
    );
    if (base === null || known.length < above.length) return null;
    rates[name] = known.length === 0 ? base : { base, tiers: known };
  }
  if (rates.input === undefined) return null;
  const { reasoning, output } = cost;
  if (reasoning !== undefined && reasoning !== output) rates.others = ["reasoning"];
  const window = isObject(entry["limit"]) ? entry["limit"]["context"] : null;
  return {
    id,
    match: { equals: id },
    ...(typeof window === "number" && window > 0 ? { contextWindow: window } : {}),
    prices: [{ rates }],
  };
}

/** Returns the prices above each limit, the smallest first; null for tiers that are not by the size of the input. */
function tiersOf({ tiers, context_over_200k: old }: JsonObject): (readonly [number, JsonObject])[] | null {
  if (tiers === undefined) return isObject(old) ? [[OLD_LIMIT, old]] : [];
  if (!Array.isArray(tiers)) return null;
  const read: (readonly [number, JsonObject])[] = [];
  for (const one of tiers) {
    const tier = isObject(one) ? one["tier"] : null;
    if (!isObject(one) || !isObject(tier) || tier["type"] !== "context") return null;
    const { size } = tier;
    if (typeof size !== "number" || !Number.isSafeInteger(size)) return null;
    read.push([size, one]);
  }
  return read.sort(([a], [b]) => a - b);
}
