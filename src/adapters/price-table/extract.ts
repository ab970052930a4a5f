import { readFileSync } from "node:fs";
import { waitForUpdate } from "@pydantic/genai-prices";
import type {
  DatedPrices,
  Price,
  PricedModel,
  PriceTable,
  Provider,
  RateClass,
  TableRates,
} from "../../core/price/price-table.ts";

/** The release that is extracted, and the day on which it was published: `npm view @pydantic/genai-prices time`. */
const RELEASE = { name: "@pydantic/genai-prices", version: "0.1.8", date: "2026-09-23" };

type ListedProvider = NonNullable<Awaited<ReturnType<typeof waitForUpdate>>>[number];
type ListedModel = ListedProvider["models"][number];
type ListedRates = Exclude<ListedModel["prices"], readonly unknown[]>;
type ListedPrice = NonNullable<ListedRates[string]>;

const CLASSES: readonly (readonly [listed: string, RateClass])[] = [
  ["input_mtok", "input"],
  ["cache_read_mtok", "cacheRead"],
  ["cache_write_mtok", "cacheWrite"],
  ["cache_write_1h_mtok", "cacheWrite1h"],
  ["output_mtok", "output"],
  ["web_searches_kcount", "webSearch"],
];

/** What some models charge for besides. Prices of audio, images and pages are left out: they do not apply to text. */
const OTHERS: readonly (readonly [listed: string, string])[] = [
  ["requests_kcount", "requests"],
  ["output_reasoning_mtok", "reasoning"],
  ["output_citation_mtok", "citations"],
];

/**
 * Extracts what is needed of the prices that the package bundles: names, prices and context windows, a quarter of it.
 * @throws Error when the installed release is not the one whose date is known here
 */
export async function extractPriceTable(): Promise<PriceTable> {
  const { name, version, date } = RELEASE;
  const manifest = readFileSync(new URL("../package.json", import.meta.resolve(name)), "utf8");
  const { version: installed } = JSON.parse(manifest) as { version: string };
  if (installed !== version)
    throw new Error(
      `${name} is ${installed}: write its version and date into src/adapters/price-table/extract.ts`,
    );
  // Requests nothing: it waits for an update only where one was started.
  const providers = (await waitForUpdate()) ?? [];
  return { source: `${name} ${version}`, asOf: date, providers: providers.map(toProvider) };
}

function toProvider({
  id,
  api_pattern,
  model_match,
  fallback_model_providers,
  models,
}: ListedProvider): Provider {
  return {
    id,
    api: api_pattern,
    ...(model_match === undefined ? {} : { makes: model_match }),
    ...(fallback_model_providers === undefined ? {} : { alsoServes: fallback_model_providers }),
    models: models.map(toModel).filter(isForText),
  };
}

/** True for a model with a price per token of text. */
function isForText({ prices }: PricedModel): boolean {
  return prices.some(({ rates }) => rates.input !== undefined || rates.output !== undefined);
}

function toModel({ id, match, context_window, prices }: ListedModel): PricedModel {
  return {
    id,
    match,
    ...(context_window === undefined ? {} : { contextWindow: context_window }),
    prices: Array.isArray(prices)
      ? prices.map(({ constraint, prices: rates }) => ({ ...toDates(constraint), rates: toRates(rates) }))
      : [{ rates: toRates(prices) }],
  };
}

type Constraint = Extract<ListedModel["prices"], readonly unknown[]>[number]["constraint"];

function toDates(constraint: Constraint): Pick<DatedPrices, "from" | "between"> {
  if (constraint === undefined) return {};
  if (constraint.type === "start_date") return { from: constraint.start_date };
  return { between: [secondOf(constraint.start_time), secondOf(constraint.end_time)] };
}

/** Returns the second of the day of a time such as `16:30:00Z`. */
function secondOf(time: string): number {
  const ms = Date.parse(`1970-01-01T${time}`);
  if (Number.isNaN(ms)) throw new Error(`not a time of the day: ${time}`);
  return ms / 1000;
}

function toRates(listed: ListedRates): TableRates {
  const priced = CLASSES.flatMap(([from, to]) => {
    const price = listed[from];
    return price === undefined ? [] : [[to, toPrice(price)] as const];
  });
  const others = OTHERS.flatMap(([from, what]) => (listed[from] === undefined ? [] : [what]));
  return { ...Object.fromEntries(priced), ...(others.length > 0 ? { others } : {}) };
}

function toPrice(price: ListedPrice): Price {
  if (typeof price === "number") return price;
  return {
    base: price.base,
    tiers: price.tiers.map(({ start, price: tier }) => ({ above: start, price: tier })),
  };
}
