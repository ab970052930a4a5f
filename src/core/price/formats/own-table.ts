import { checkDay } from "../../config/price-schema.ts";
import { isObject, type JsonObject } from "../../json.ts";
import type { DatedPrices, PricedModel, PriceTable, Provider, TableRates } from "../price-table.ts";
import { MEDIA, RATE_CLASSES, type Medium, type MediumRates, type Price } from "../rate-class.ts";
import { isTame, readMatch } from "./genai-prices.ts";
import { asPrice, asWords, type ReadPrices } from "./read-prices.ts";

/** Reads tollkeeper's own format: a {@link PriceTable} as JSON. Returns null for something else. */
export function readOwnTable(data: unknown): ReadPrices | null {
  if (!isObject(data) || !Array.isArray(data["providers"]) || typeof data["asOf"] !== "string") return null;
  const leftOut: string[] = [];
  const providers = data["providers"].flatMap((one: unknown) => {
    const read = isObject(one) ? readProvider(one, leftOut) : null;
    if (read === null) leftOut.push(`${isObject(one) ? String(one["id"]) : "something"}: the service`);
    return read ?? [];
  });
  return { providers, leftOut, asOf: checkDay(data["asOf"]) === null ? data["asOf"] : null };
}

function readProvider(
  { id, api, makes, alsoServes, models }: JsonObject,
  leftOut: string[],
): Provider | null {
  if (typeof id !== "string" || typeof api !== "string" || !isTame(api) || !Array.isArray(models))
    return null;
  const made = readMatch(makes);
  return {
    id,
    api,
    ...(made === null ? {} : { makes: made }),
    ...(alsoServes === undefined ? {} : { alsoServes: asWords(alsoServes) }),
    models: models.flatMap((one: unknown) => {
      const read = isObject(one) ? readModel(one) : null;
      if (read === null) leftOut.push(`${id}: ${isObject(one) ? String(one["id"]) : "a model"}`);
      return read ?? [];
    }),
  };
}

function readModel({ id, match, contextWindow, prices }: JsonObject): PricedModel | null {
  const rule = readMatch(match);
  if (typeof id !== "string" || rule === null || !Array.isArray(prices)) return null;
  const dated = prices.map((one: unknown) => (isObject(one) ? readDated(one) : null));
  if (dated.length === 0 || !dated.every((one) => one !== null)) return null;
  const window = typeof contextWindow === "number" ? { contextWindow } : {};
  return { id, match: rule, ...window, prices: dated };
}

function readDated({ from, between, weekdays, except, rates }: JsonObject): DatedPrices | null {
  if (from !== undefined && (typeof from !== "string" || checkDay(from) !== null)) return null;
  const times = between === undefined ? null : readTimes(between);
  if (!isObject(rates) || times === undefined) return null;
  const read: TableRates = {};
  for (const name of RATE_CLASSES) {
    if (rates[name] === undefined) continue;
    const price = readPrice(rates[name]);
    if (price === null) return null;
    read[name] = price;
  }
  const media = readMedia(rates["media"]);
  if (media === null) return null;
  if (Object.keys(media).length > 0) read.media = media;
  if (rates["others"] !== undefined) read.others = asWords(rates["others"]);
  return {
    ...(from === undefined ? {} : { from }),
    ...(times === null ? {} : { between: times }),
    ...(Array.isArray(weekdays) ? { weekdays: weekdays.filter((day) => typeof day === "number") } : {}),
    ...(except === undefined ? {} : { except: asWords(except) }),
    rates: read,
  };
}

/** Returns null for something that has no prices. */
function readMedia(listed: unknown): NonNullable<TableRates["media"]> | null {
  const media: { [Kind in Medium]?: MediumRates<Price> } = {};
  if (!isObject(listed)) return listed === undefined ? media : null;
  for (const medium of MEDIA)
    for (const name of ["input", "cacheRead", "output"] as const) {
      const given = listed[medium];
      if (!isObject(given) || given[name] === undefined) continue;
      const price = readPrice(given[name]);
      if (price === null) return null;
      (media[medium] ??= {})[name] = price;
    }
  return media;
}

/** Returns undefined for something that is no pair of times. */
function readTimes(between: unknown): readonly [number, number] | undefined {
  const [start, end] = Array.isArray(between) ? (between as unknown[]) : [];
  return typeof start === "number" && typeof end === "number" ? [start, end] : undefined;
}

function readPrice(price: unknown): Price | null {
  if (!isObject(price)) return asPrice(price);
  const base = asPrice(price["base"]);
  if (base === null || !Array.isArray(price["tiers"])) return null;
  const tiers: { above: number; price: number }[] = [];
  for (const tier of price["tiers"] as unknown[]) {
    const { above, price: dollars }: JsonObject = isObject(tier) ? tier : {};
    const read = asPrice(dollars);
    if (read === null || typeof above !== "number" || !Number.isSafeInteger(above)) return null;
    tiers.push({ above, price: read });
  }
  return { base, tiers };
}

/** Writes a table as a file of this format. */
export function formatOwnTable(table: PriceTable): string {
  return `${JSON.stringify(table)}\n`;
}
