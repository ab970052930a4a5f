import type { Config, Upstream } from "../../../core/config/config.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { splitRegion } from "../../../core/price/modifiers.ts";
import { findProvider, type PriceTable } from "../../../core/price/price-table.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { layOutFacts, type Fact } from "../../terminal/facts.ts";
import { pluralize } from "../../terminal/format.ts";
import { layOutProse } from "../../terminal/prose.ts";
import { formatTable, type TableView } from "../../terminal/table.ts";

/** Where an upstream's prices come from. */
interface Source {
  name: string;
  /** Its provider in the price table; null when that does not know its host. */
  provider: string | null;
  /** How many models of that provider have prices. */
  models: number;
  isFree: boolean;
  discount: number;
  /** The patterns of its own prices in the configuration. */
  patterns: string[];
}

function describeSources({ upstreams }: Config, { table }: PriceBook): Source[] {
  return Object.values(upstreams).map((upstream) => describeSource(upstream, table));
}

function describeSource({ name, baseUrl, auth, discount, prices }: Upstream, table: PriceTable): Source {
  const provider = findProvider(table, splitRegion(baseUrl).baseUrl);
  return {
    name,
    provider: provider?.id ?? null,
    models: provider?.models.length ?? 0,
    isFree: auth === "none",
    discount,
    patterns: Object.keys(prices),
  };
}

/** Says where prices come from: the table, the configuration, and what applies at each upstream. Control characters are escaped. */
export function renderOverview(
  config: Config,
  prices: PriceBook,
  ageDays: number,
  { width, isColoured }: TableView,
): string {
  const { source, asOf, providers } = prices.table;
  const models = providers.reduce((sum, provider) => sum + provider.models.length, 0);
  const facts: Fact[] = [
    ["table", `${source}, as of ${asOf}, ${pluralize(ageDays, "day")} ago`],
    ["", `${pluralize(models, "model")} of ${pluralize(providers.length, "service")}`],
  ];
  if (prices.imported !== null) {
    const { source: name, asOf: day, providers: own } = prices.imported;
    const count = own.reduce((sum, provider) => sum + provider.models.length, 0);
    facts.push(["imported", `${name}, as of ${day}, ${pluralize(count, "model")}`]);
  }
  const patterns = Object.keys(config.prices);
  facts.push(["configured", patterns.length === 0 ? "no prices for all upstreams" : patterns.join(", ")]);
  const rows = describeSources(config, prices).map((one) => [
    { text: toPrintable(one.name), tone: "strong" as const },
    toPrintable(describeInWords(one)),
  ]);
  const parts = [
    layOutFacts(facts, width, isColoured).join("\n"),
    rows.length > 0 && formatTable(["upstream", "prices"], rows, isColoured, width),
    layOutProse(["To see what a model costs, type: tollkeeper prices MODEL"], width),
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

function describeInWords({ provider, models, isFree, discount, patterns }: Source): string {
  const listed =
    provider === null
      ? "makers' prices, not in the table"
      : `${provider} in the table, ${pluralize(models, "model")}`;
  const parts = [
    patterns.length > 0 && `its own for ${patterns.join(", ")}`,
    isFree ? "free, because it takes no key" : listed,
    discount > 0 && `${discount} % off`,
  ];
  return parts.filter((part) => part !== false).join("; ");
}

/** Returns the same as a document for programs. */
export function documentOverview(config: Config, prices: PriceBook): object {
  return { configured: Object.keys(config.prices), upstreams: describeSources(config, prices) };
}
