import type { Cost } from "../../../core/price/cost.ts";
import { formatConfigPath } from "../../../core/config/problem.ts";
import type { DearestPrices } from "../../../core/price/dearest.ts";
import { formatDecimal, type Decimal } from "../../../core/price/money.ts";
import type { FoundPrices } from "../../../core/price/price-book.ts";
import { perOf, RATE_CLASSES, type RateClass } from "../../../core/price/rate-class.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { CLASS_TITLES, formatCostLines } from "../../prices/cost-rows.ts";
import { documentCost } from "../../prices/cost-document.ts";
import { layOutProse } from "../../terminal/prose.ts";
import { layOutFacts, type Fact } from "../../terminal/facts.ts";
import { alignDecimals, formatNumber } from "../../terminal/format.ts";
import { formatTable, type TableView } from "../../terminal/table.ts";

/** A model at an upstream, its prices and an example; `free` and null as of `PriceBook.find`. */
export interface ShownModel {
  model: string;
  upstream: string;
  prices: FoundPrices | "free" | null;
  contextWindow: number | null;
  /** What budgets assume for a model without prices: those of similar models, before a discount; null with prices. */
  assumed: DearestPrices | null;
  /** null without prices. */
  example: Cost | null;
}

const TITLES: Readonly<Record<RateClass, string>> = {
  input: CLASS_TITLES.input_uncached,
  cacheRead: CLASS_TITLES.cache_read,
  cacheWrite: CLASS_TITLES.cache_write_5m,
  cacheWrite1h: CLASS_TITLES.cache_write_1h,
  cacheWrite12h: CLASS_TITLES.cache_write_12h,
  output: CLASS_TITLES.output,
  webSearch: CLASS_TITLES.web_search,
  picture: CLASS_TITLES.picture,
  videoSecond: CLASS_TITLES.video_second,
};

/** What a price is for. */
const UNITS: Readonly<Record<ReturnType<typeof perOf>, string>> = {
  1_000_000: "1M tokens",
  1000: "1,000 calls",
  1: "each",
};

/** Says what a model costs, with an example, line by line. Control characters are escaped. */
export function renderModel(shown: ShownModel, view: TableView): string {
  const { model, upstream, prices, contextWindow, assumed, example } = shown;
  const { width, isColoured } = view;
  const isPriced = prices !== null && prices !== "free";
  const facts: Fact[] = [
    ["model", model],
    ["upstream", upstream],
    ["prices", describeSource(prices), prices === null ? "warning" : "plain"],
  ];
  if (contextWindow !== null) facts.push(["context", `${formatNumber(contextWindow)} tokens`]);
  if (isPriced && prices.discounted !== null)
    facts.push(["discount", `${percentOf(prices.discounted)} of each price remains`]);
  if (isPriced && prices.region !== null) facts.push(["region", prices.region]);
  const parts = [
    layOutFacts(facts, width, isColoured).join("\n"),
    assumed !== null && layOutProse(describeAssumed(model, assumed), width),
    ...(isPriced ? pricedParts(prices, example, view) : []),
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

/** The prices as a table, what is not known of a record, and the example. */
function pricedParts(
  prices: FoundPrices,
  example: Cost | null,
  { width, isColoured }: TableView,
): (string | false)[] {
  const rows = priceRows(prices).map((row) => row.map((text) => toPrintable(text)));
  const dollars = alignDecimals(rows.map(([, usd = ""]) => usd));
  const isShown = example !== null && example.kind !== "unknown";
  const others = prices.others.join(", ");
  return [
    formatTable(
      ["", { head: "USD", align: "right" }, "for"],
      rows.map((row, at) => row.with(1, dollars[at] ?? "")),
      isColoured,
      width,
    ),
    others !== "" &&
      layOutProse([`Not known from a record, so that requests are unpriced: ${others}`], width),
    isShown && "An example, line by line:",
    isShown && formatCostLines(example, { width, isColoured }),
  ];
}

/** Says what budgets count for a model without a price, and what to type to give it one. */
function describeAssumed(model: string, assumed: DearestPrices): string[] {
  const dollars = ASSUMED.flatMap((name) => {
    const price = assumed[name];
    return price === undefined ? [] : [[name, formatDecimal(price)] as const];
  });
  const listed = dollars.map(([name, usd]) => `${usd} for ${TITLES[name]}`).join(", ");
  const shown = dollars.length === 0 ? EXAMPLE : dollars;
  const value = `{ ${shown.map(([name, usd]) => `"${name}": ${usd}`).join(", ")} }`;
  const path = formatConfigPath(["prices", model]);
  return [
    dollars.length === 0
      ? "No model with a price is similar, so budgets assume the highest prices of the upstream."
      : `Budgets assume the highest prices of similar models, per million tokens: ${listed}.`,
    "To set the prices of this model, type this with its own numbers:",
    `  ${formatCommand(["tollkeeper", "config", "set", path, value])}`,
  ];
}

/** Prices to be replaced. */
const EXAMPLE = [
  ["input", "3"],
  ["output", "15"],
] as const;

/** The classes that are listed of what is assumed. */
const ASSUMED = ["input", "cacheRead", "cacheWrite", "output"] as const;

function describeSource(prices: ShownModel["prices"]): string {
  if (prices === "free") return "free: the upstream takes no key, and the configuration has no price";
  if (prices === null) return "unpriced: neither the configuration nor the price table has a price";
  if (prices.from === "configuration") return "the configuration";
  const { provider, model, source } = prices;
  return `${provider}/${model} in ${source?.name ?? ""}, as of ${source?.asOf ?? ""}`;
}

function percentOf({ digits, scale }: Decimal): string {
  return `${formatDecimal({ digits: digits * 100n, scale })} %`;
}

/** A row for each price, and one for each tier. */
function priceRows({ classes }: FoundPrices): string[][] {
  return RATE_CLASSES.flatMap((name) => {
    const rate = classes[name];
    if (rate === undefined) return [];
    const unit = UNITS[perOf(name)];
    const tiers = rate.tiers.map(({ above, price }) => [
      "",
      formatDecimal(price),
      `${unit}, if the whole input is above ${formatNumber(above)}`,
    ]);
    return [[TITLES[name], formatDecimal(rate.base), unit], ...tiers];
  });
}

const NO_PRICES = {
  source: null,
  provider: null,
  listedAs: null,
  region: null,
  discountFactor: null,
  prices: [],
  others: [],
  example: null,
};

/** Returns the same as a document for programs. Prices and amounts are exact decimal numbers in strings. */
export function documentModel({
  model,
  upstream,
  prices,
  contextWindow,
  assumed,
  example,
}: ShownModel): object {
  const listed = Object.entries(assumed ?? {}).map(([name, price]) => ({
    class: name,
    usd: formatDecimal(price),
    per: perOf(name as RateClass),
  }));
  const head = { model, upstream, contextWindow, assumed: listed };
  if (prices === null || prices === "free") return { ...head, from: prices, ...NO_PRICES };
  const { from, source, provider, model: listedAs, region, discounted, others } = prices;
  return {
    ...head,
    from,
    source,
    provider,
    listedAs,
    region,
    discountFactor: discounted === null ? null : formatDecimal(discounted),
    prices: documentPrices(prices),
    others,
    example: example === null || example.kind === "unknown" ? null : documentCost(example),
  };
}

/** Returns prices as exact decimal numbers in strings. */
export function documentPrices({ classes }: FoundPrices): object[] {
  return RATE_CLASSES.flatMap((name) => {
    const rate = classes[name];
    if (rate === undefined) return [];
    const tiers = rate.tiers.map(({ above, price }) => ({ above, usd: formatDecimal(price) }));
    return [{ class: name, usd: formatDecimal(rate.base), per: perOf(name), tiers }];
  });
}
