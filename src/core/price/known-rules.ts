import type { DatedPrices, PricedModel, Provider, TableRates } from "./price-table.ts";
import type { Price } from "./rate-class.ts";

/**
 * What services say of all their prices, and lists of prices leave out. Each function returns a provider's models with it; what a
 * list says itself is never changed.
 */
export function applyKnownRules(provider: Provider): Provider {
  return { ...provider, models: provider.models.map((model) => applyToModel(provider.id, model)) };
}

function applyToModel(provider: string, model: PricedModel): PricedModel {
  const prices = provider === "deepseek" ? withPeaks(model) : model.prices;
  return {
    ...model,
    prices: prices.map((one) => ({ ...one, rates: complete(provider, model.id, one.rates) })),
  };
}

/**
 * A cache write for an hour costs twice the input, at Anthropic and wherever else Claude is sold with it:
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching, https://aws.amazon.com/bedrock/pricing,
 * https://cloud.google.com/vertex-ai/generative-ai/pricing, https://openrouter.ai/docs/guides/best-practices/prompt-caching.
 */
const SELL_CLAUDE = ["anthropic", "aws", "azure", "google", "openrouter", "vercel-ai-gateway"];

/** Web searches cost $10 per thousand with all models: https://platform.claude.com/docs/en/about-claude/pricing. */
const WEB_SEARCH = 10;

function complete(provider: string, model: string, rates: TableRates): TableRates {
  const { input, cacheWrite, cacheWrite1h, webSearch } = rates;
  if (!/claude/i.test(model) || !SELL_CLAUDE.includes(provider) || input === undefined) return rates;
  return {
    ...rates,
    ...(cacheWrite !== undefined && cacheWrite1h === undefined ? { cacheWrite1h: twice(input) } : {}),
    ...(provider === "anthropic" && cacheWrite !== undefined && webSearch === undefined
      ? { webSearch: WEB_SEARCH }
      : {}),
  };
}

function twice(price: Price): Price {
  if (typeof price === "number") return times(price, 2);
  const tiers = price.tiers.map(({ above, price: tier }) => ({ above, price: times(tier, 2) }));
  return { base: times(price.base, 2), tiers };
}

/** Multiplies without the digits that binary fractions add. */
function times(price: number, factor: number): number {
  return Number((price * factor).toPrecision(12));
}

/**
 * DeepSeek's prices at peak hours, since 2026-08-17: 01:00 to 04:00 and 06:00 to 10:00 UTC, Monday to Friday, but not on public
 * holidays in China; they are twice those of the other hours (https://api-docs.deepseek.com/quick_start/pricing). Lists give the
 * hours without the date and the days, or the peak price alone.
 */
const PEAK = {
  from: "2026-08-17",
  weekdays: [1, 2, 3, 4, 5],
  // Working days that are holidays in 2026, of the State Council's list. Those of 2027 are not published yet.
  except: ["2026-09-25", "2026-10-01", "2026-10-02", "2026-10-05", "2026-10-06", "2026-10-07"],
};
const PEAK_HOURS = [
  [3_600, 14_400],
  [21_600, 36_000],
] as const;

/** The first models with peak hours. Earlier ones had others, which ended in 2025. */
const WITH_PEAKS = /^deepseek-(?:v[4-9]|flash|pro)/;

function withPeaks({ id, prices }: PricedModel): readonly DatedPrices[] {
  if (!WITH_PEAKS.test(id)) return prices;
  if (prices.some(({ between }) => between !== undefined))
    return prices.map((one) => (one.between === undefined ? one : { ...one, ...PEAK }));
  return prices.flatMap((one) => [
    { ...one, rates: halve(one.rates) },
    ...PEAK_HOURS.map((between) => ({ ...one, ...PEAK, between })),
  ]);
}

function halve(rates: TableRates): TableRates {
  const halved = Object.entries(rates).map(([name, price]) => [
    name,
    typeof price === "number" ? times(price, 0.5) : price,
  ]);
  return Object.fromEntries(halved) as TableRates;
}
