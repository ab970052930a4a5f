import type { CostLine } from "../../core/price/charge-cost.ts";
import type { Cost } from "../../core/price/cost.ts";
import { formatDecimal, formatMoney } from "../../core/price/money.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { alignDecimals, formatNumber } from "../terminal/format.ts";
import { formatTable, type Column, type TableView } from "../terminal/table.ts";

/** The classes of tokens as tables of prices call them. The price of a write is that of five minutes unless another is named. */
export const CLASS_TITLES: Readonly<Record<CostLine["class"], string>> = {
  input_uncached: "uncached input",
  cache_read: "cache read",
  cache_write_5m: "cache write",
  cache_write_30m: "cache write, 30 min",
  cache_write_1h: "cache write, 1 h",
  cache_write_12h: "cache write, 12 h",
  cache_write_ttl_unknown: "cache write",
  output: "output",
  web_search: "web search",
  picture: "pictures",
  video_second: "seconds of video",
};

/** Of what a request cost, line by line. */
const COLUMNS: readonly Column[] = [
  { head: "", align: "left" },
  { head: "count", align: "right" },
  { head: "USD", align: "right" },
  { head: "for", align: "right" },
  { head: "times", align: "left" },
  { head: "amount", align: "right" },
];

/** The column of factors, of which most costs have none. */
const TIMES = 4;

/** A cost of which at least a part is known. */
type KnownCost = Exclude<Cost, { kind: "unknown" }>;

/** Formats what a request cost as a table: its lines, and their sum. */
export function formatCostLines(cost: KnownCost, view?: TableView): string {
  const rows = cost.lines.map(lineRow);
  rows.push(totalRow(cost));
  const rates = alignDecimals(rows.map((row) => row[2] ?? ""));
  const amounts = alignDecimals(rows.map((row) => row[5] ?? ""));
  const aligned = rows.map((row, at) => row.with(2, rates[at] ?? "").with(5, amounts[at] ?? ""));
  const kept = (_: unknown, at: number) => at !== TIMES || rows.some((row) => row[TIMES] !== "");
  return formatTable(
    COLUMNS.filter(kept),
    aligned.map((row) => row.filter(kept)),
    view?.isColoured,
    view?.width,
  );
}

function lineRow({ class: name, count, rate, per, factors, amount }: CostLine): string[] {
  return [
    CLASS_TITLES[name],
    formatNumber(count),
    formatDecimal(rate),
    formatNumber(per),
    factors.map(({ what, value }) => `${formatDecimal(value)} (${toPrintable(what)})`).join(", "),
    `$${formatMoney(amount)}`,
  ];
}

function totalRow(cost: KnownCost): string[] {
  if (cost.kind === "priced")
    return [cost.isLowerBound ? "at least" : "total", "", "", "", "", `$${formatMoney(cost.amount)}`];
  const missing = cost.missing.map(({ what }) => what).join(", ");
  const known = cost.atLeast === 0n ? "" : `$${formatMoney(cost.atLeast)}`;
  return ["at least", "", "", "", `unpriced: ${toPrintable(missing)}`, known];
}
