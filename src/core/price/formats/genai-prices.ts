import { isObject } from "../../json.ts";
import type { Match } from "../match.ts";
import type { DatedPrices, PricedModel, Provider, TableRates } from "../price-table.ts";
import type { Medium, MediumRates, Price, RateClass } from "../rate-class.ts";
import { asPrice, asWords, type ReadPrices } from "./read-prices.ts";

const CLASSES: readonly (readonly [listed: string, RateClass])[] = [
  ["input_mtok", "input"],
  ["cache_read_mtok", "cacheRead"],
  ["cache_write_mtok", "cacheWrite"],
  ["cache_write_1h_mtok", "cacheWrite1h"],
  ["output_mtok", "output"],
  ["web_searches_kcount", "webSearch"],
];

/** The prices of other tokens than text. */
const OF_MEDIA: readonly (readonly [listed: string, Medium, keyof MediumRates<Price>])[] = [
  ["input_audio_mtok", "audio", "input"],
  ["cache_audio_read_mtok", "audio", "cacheRead"],
  ["output_audio_mtok", "audio", "output"],
  ["input_image_mtok", "image", "input"],
  ["cache_image_read_mtok", "image", "cacheRead"],
  ["output_image_mtok", "image", "output"],
  ["input_video_mtok", "video", "input"],
  ["output_video_mtok", "video", "output"],
];

/** What some models charge for besides. Prices of pages and hours are left out: they do not apply to tokens. */
const OTHERS: readonly (readonly [listed: string, string])[] = [
  ["requests_kcount", "requests"],
  ["output_reasoning_mtok", "reasoning"],
  ["output_citation_mtok", "citations"],
];

/**
 * Reads the data of genai-prices: what its package bundles, and its `data.json`
 * (https://github.com/pydantic/genai-prices/tree/main/prices). Returns null for something else.
 */
export function readGenaiPrices(data: unknown): ReadPrices | null {
  if (!Array.isArray(data) || !data.every((one) => isObject(one) && Array.isArray(one["models"])))
    return null;
  const leftOut: string[] = [];
  const providers = data.filter(isObject).flatMap((provider) => {
    const read = readProvider(provider, leftOut);
    return read === null ? [] : [read];
  });
  return { providers, leftOut, asOf: null };
}

function readProvider(provider: Record<string, unknown>, leftOut: string[]): Provider | null {
  const { id, api_pattern: api, model_match: makes, fallback_model_providers: also, models } = provider;
  if (typeof id !== "string" || typeof api !== "string" || !isTame(api)) {
    leftOut.push(`${String(id)}: the service`);
    return null;
  }
  const made = readMatch(makes);
  return {
    id,
    api,
    ...(made === null ? {} : { makes: made }),
    ...(also === undefined || also === null ? {} : { alsoServes: asWords(also) }),
    models: (Array.isArray(models) ? models : []).flatMap((model) => {
      const read = isObject(model) ? readModel(model) : null;
      if (read === null) leftOut.push(`${id}: ${isObject(model) ? String(model["id"]) : "a model"}`);
      return read === null || !isForText(read) ? [] : [read];
    }),
  };
}

/** True for a model with a price per token of text. */
function isForText({ prices }: PricedModel): boolean {
  return prices.some(({ rates }) => rates.input !== undefined || rates.output !== undefined);
}

function readModel({
  id,
  match,
  context_window: window,
  prices,
}: Record<string, unknown>): PricedModel | null {
  const rule = readMatch(match);
  const dated = (Array.isArray(prices) ? prices : [{ prices }]).map((one) =>
    isObject(one) ? readDated(one) : null,
  );
  if (typeof id !== "string" || rule === null || !dated.every((one) => one !== null)) return null;
  return { id, match: rule, ...(typeof window === "number" ? { contextWindow: window } : {}), prices: dated };
}

function readDated({ constraint, prices }: Record<string, unknown>): DatedPrices | null {
  if (!isObject(prices)) return null;
  const rates: TableRates = {};
  for (const [from, to] of CLASSES) {
    const price = readPrice(prices[from]);
    if (price === null) return null;
    if (price !== undefined) rates[to] = price;
  }
  const media = readMedia(prices);
  if (media === null) return null;
  if (Object.keys(media).length > 0) rates.media = media;
  const others = OTHERS.flatMap(([from, what]) => (isListed(prices[from]) ? [what] : []));
  if (others.length > 0) rates.others = others;
  const period = readConstraint(constraint);
  return period === null ? null : { ...period, rates };
}

/** Returns null for something that is no price. */
function readMedia(prices: Record<string, unknown>): NonNullable<TableRates["media"]> | null {
  const media: { [Kind in Medium]?: MediumRates<Price> } = {};
  for (const [from, medium, name] of OF_MEDIA) {
    const price = readPrice(prices[from]);
    if (price === null) return null;
    if (price !== undefined) (media[medium] ??= {})[name] = price;
  }
  return media;
}

const isListed = (value: unknown): boolean => value !== undefined && value !== null;

/** Returns undefined for a class that is not listed, and null for something that is no price. */
function readPrice(price: unknown): Price | undefined | null {
  if (!isListed(price)) return undefined;
  if (!isObject(price)) return asPrice(price);
  const { base, tiers } = price;
  const first = asPrice(base);
  if (first === null || !Array.isArray(tiers)) return null;
  const read: { above: number; price: number }[] = [];
  for (const tier of tiers) {
    const dollars = isObject(tier) ? asPrice(tier["price"]) : null;
    const start = isObject(tier) ? tier["start"] : null;
    if (dollars === null || !Number.isSafeInteger(start)) return null;
    read.push({ above: start as number, price: dollars });
  }
  return { base: first, tiers: read };
}

function readConstraint(constraint: unknown): Pick<DatedPrices, "from" | "between"> | null {
  if (!isObject(constraint)) return {};
  const { start_date: date, start_time: start, end_time: end } = constraint;
  if (typeof date === "string") return Number.isNaN(Date.parse(date)) ? null : { from: date };
  const between = [secondOf(start), secondOf(end)] as const;
  return between.some(Number.isNaN) ? null : { between };
}

/** Returns the second of the day of a time such as `16:30:00Z`; NaN for something else. */
function secondOf(time: unknown): number {
  return Date.parse(`1970-01-01T${String(time)}`) / 1000;
}

export function readMatch(rule: unknown): Match | null {
  if (!isObject(rule)) return null;
  const { or, and, regex } = rule;
  for (const name of ["equals", "starts_with", "ends_with", "contains"] as const) {
    const text = rule[name];
    if (typeof text === "string") return { [name]: text } as Match;
  }
  if (typeof regex === "string") return isTame(regex) ? { regex } : null;
  const list = or ?? and;
  if (!Array.isArray(list)) return null;
  const rules = list.map(readMatch);
  if (!rules.every((one) => one !== null)) return null;
  return or === undefined ? { and: rules } : { or: rules };
}

/** True for a regular expression that a name cannot keep busy: nothing in it is a repeated group. */
export function isTame(regex: string): boolean {
  if (regex.length > 400 || /\)[*+{]/.test(regex)) return false;
  try {
    return new RegExp(regex) instanceof RegExp;
  } catch {
    return false;
  }
}
