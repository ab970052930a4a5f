import type { Config } from "../../core/config/config.ts";
import { checkToolName } from "../../core/config/names.ts";
import type { ListedModel } from "../../core/http/model-list.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { preparePolicies } from "../../core/policy/tool-policy.ts";
import { formatDecimal, type Decimal } from "../../core/price/money.ts";
import type { FoundPrices, PriceBook } from "../../core/price/price-book.ts";
import type { RateClass } from "../../core/price/rate-class.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { asCount } from "../../core/usage/fields.ts";
import { defineCommand } from "../command.ts";
import { listRunningModels } from "../connect/local-endpoint.ts";
import { chooseSeller } from "../prices/choose-seller.ts";
import { loadPrices, remarkOnAge } from "../prices/load-prices.ts";
import { documentPrices } from "./prices/model.ts";
import { noteSimilarTool } from "../known-tools.ts";
import { hasColours, note, printJson, printStyled } from "../terminal/console.ts";
import { printProse } from "../terminal/prose.ts";
import { formatNumber } from "../terminal/format.ts";
import { layOutTable, type Cell, type Column } from "../terminal/table.ts";

/** `tollkeeper models`: asks the running daemon which models there are, and says what is known of each. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("tool", { type: "string", describe: "Tool whose models to list; default: any" })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" })
      .check(({ tool }) => tool === undefined || (checkToolName(tool) ?? true)),
  handler: async ({ config: file, tool, json }) => {
    const { models, missing, config } = await listRunningModels(tool, file);
    const prices = await loadPrices(config);
    const now = Date.now();
    const rows = models.map((model) => describeModel(model, config, prices, tool ?? null, now));
    if (json) return printJson({ models: rows.map(toDocument), missingUpstreams: missing });
    if (rows.length === 0) note("No upstream lists a model.");
    else {
      const width = process.stdout.columns || Infinity;
      printStyled(layOutTable(COLUMNS, toRows(rows), { width, isColoured: hasColours() }).text);
      printProse(["", "USD per million tokens of short prompts. More: tollkeeper prices MODEL"]);
    }
    await noteSimilarTool(tool, config);
    const limit = preparePolicies(config)?.(tool ?? "")?.models ?? null;
    if (limit !== null)
      note(
        `Only what group ${limit.group} allows is listed: ${limit.patterns.join(" ")}; to change that, type: tollkeeper group set ${limit.group} --models PATTERN,...`,
      );
    for (const upstream of missing)
      note(`The models of ${upstream} are missing, because it has not answered; see: tollkeeper status`);
    const remark = remarkOnAge(prices.table, now);
    if (remark !== null) printProse([remark]);
  },
});

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

/** Returns the rows of each upstream together, in the order of their first models. */
function toRows(models: readonly UsableModel[]): Cell[][] {
  const groups = new Map<string | null, UsableModel[]>();
  for (const model of models) groups.set(model.upstream, [...(groups.get(model.upstream) ?? []), model]);
  return [...groups.values()].flat().map(toRow);
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
