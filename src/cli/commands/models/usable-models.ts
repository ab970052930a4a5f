import type { Config } from "../../../core/config/config.ts";
import type { ListedModel } from "../../../core/http/model-list.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { formatDecimal, type Decimal } from "../../../core/price/money.ts";
import type { FoundPrices, PriceBook } from "../../../core/price/price-book.ts";
import type { RateClass } from "../../../core/price/rate-class.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { asCount } from "../../../core/usage/fields.ts";
import { listRunningModels } from "../../connect/local-endpoint.ts";
import { chooseSeller } from "../../prices/choose-seller.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { documentPrices } from "../prices/model.ts";
import { formatNumber } from "../../terminal/format.ts";
import { layOutTable, type Cell, type Column, type TableView } from "../../terminal/table.ts";

/** The models that a tool may use, with what each costs. */
interface UsableModels {
  models: readonly UsableModel[];
  /** The upstreams whose models are not among them, because they have not answered. */
  missing: readonly string[];
  config: Config;
  prices: PriceBook;
}

/**
 * Asks the running daemon which models there are, and finds what is known of each.
 * @param tool undefined for any
 * @param file the configuration; undefined for the usual one
 */
export async function readUsableModels(
  tool: string | undefined,
  file: string | undefined,
): Promise<UsableModels> {
  const { models, missing, config } = await listRunningModels(tool, file);
  const prices = await loadPrices(config);
  const now = Date.now();
  const described = models.map((model) => describeModel(model, config, prices, tool ?? null, now));
  return { models: described, missing, config, prices };
}

/** Said below the table. */
export const PRICE_UNIT = "USD per million tokens of short prompts. More: tollkeeper prices MODEL";

/** Renders models as a table. On a terminal those of an upstream are below its name; in a pipe each line has it. */
export function renderModels(models: readonly UsableModel[], view: TableView): string {
  const groups = groupByUpstream(models);
  if (view.width === Infinity) return layOutTable(COLUMNS, groups.flat().map(toRow), view).text;
  const rows = groups.flatMap((group) => [
    [{ text: group[0]?.upstream ?? "served by none", tone: "strong" as const }],
    ...group.map(toGroupedRow),
  ]);
  return layOutTable(GROUPED_COLUMNS, rows, view).text;
}

/** Returns the models as a document for programs. */
export function documentModels({ models, missing }: Pick<UsableModels, "models" | "missing">): object {
  return { models: models.map(toDocument), missingUpstreams: missing };
}

/** A model that may be used. */
interface UsableModel {
  id: string;
  /** null when no upstream of the configuration serves it now. */
  upstream: string | null;
  /** In tokens; null when neither the upstream nor the price table says. */
  contextWindow: number | null;
  prices: FoundPrices | "free" | null;
}

function describeModel(
  { id, json }: ListedModel,
  config: Config,
  prices: PriceBook,
  tool: string | null,
  now: number,
): UsableModel {
  const upstream = chooseSeller(config, prices, { model: id, tool, at: now });
  const listed = upstream === null ? null : prices.findListed(upstream, id);
  return {
    id,
    upstream,
    contextWindow: readContext(json) ?? listed?.model.contextWindow ?? null,
    prices: upstream === null ? null : prices.find(upstream, id, now),
  };
}

/** What services call it in their lists: OpenRouter, Groq, vLLM, Anthropic. */
const CONTEXT_NAMES = ["context_length", "context_window", "max_model_len", "max_input_tokens"];

function readContext(json: string): number | null {
  const entry = parseJson(json);
  if (!isObject(entry)) return null;
  return (
    CONTEXT_NAMES.map((name) => asCount(entry[name])).find((count) => count !== null && count > 0) ?? null
  );
}

const right = (head: string, order: number) => ({ head, align: "right", order }) as const;
const COLUMNS: readonly Column[] = [
  { head: "model", align: "left", long: "cut" },
  { head: "upstream", align: "left", long: "cut", order: 1 },
  right("context", 4),
  right("input", 0),
  right("cached", 2),
  right("output", 0),
  { head: "prices", align: "left", order: 3 },
];

const GROUPED_COLUMNS = COLUMNS.filter(({ head }) => head !== "upstream");

/** Returns the models of each upstream together, in the order of their first models. */
function groupByUpstream(models: readonly UsableModel[]): UsableModel[][] {
  const groups = new Map<string | null, UsableModel[]>();
  for (const model of models) groups.set(model.upstream, [...(groups.get(model.upstream) ?? []), model]);
  return [...groups.values()];
}

/** A model without prices says so where its price would be, because the last column gives way first. */
function toGroupedRow(model: UsableModel): Cell[] {
  const [id = "", , context = "", input = "", cached = "", output = "", from = ""] = toRow(model);
  const isPriced = model.prices !== null && model.prices !== "free";
  return [`  ${textOf(id)}`, context, isPriced ? input : from, cached, output, isPriced ? from : ""];
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}

function toRow({ id, upstream, contextWindow, prices }: UsableModel): Cell[] {
  const price = (rateClass: RateClass) => {
    const rate = prices === null || prices === "free" ? undefined : prices.classes[rateClass];
    return rate === undefined ? "" : formatDecimal(rate.base);
  };
  return [
    toPrintable(id),
    upstream ?? "",
    contextWindow === null ? "" : formatNumber(contextWindow),
    price("input"),
    price("cacheRead"),
    price("output"),
    describePrices(prices),
  ];
}

function describePrices(prices: UsableModel["prices"]): Cell {
  if (prices === null) return { text: "unpriced", tone: "warning" };
  if (prices === "free") return "free";
  return prices.discounted === null ? prices.from : `${prices.from} at ${percentOf(prices.discounted)}`;
}

/** What is left of a price, in percent. */
function percentOf({ digits, scale }: Decimal): string {
  return `${formatDecimal({ digits: digits * 100n, scale })}%`;
}

function toDocument({ prices, ...model }: UsableModel): object {
  const isPriced = prices !== null && prices !== "free";
  return {
    ...model,
    pricesFrom: isPriced ? prices.from : prices,
    discountFactor: isPriced && prices.discounted !== null ? formatDecimal(prices.discounted) : null,
    prices: isPriced ? documentPrices(prices) : [],
  };
}
