import type { UsageRecord } from "../../../core/ledger/record.ts";
import { isPlanUpstream } from "../../../core/plans/names.ts";
import { element } from "./elements.ts";
import type { Cost, CostLine } from "./feed-types.ts";
import { formatCompact, formatCount, formatDollars } from "./numbers.ts";

/** What of a record says what its cost means. */
type Charged = Pick<UsageRecord, "tokens" | "upstream">;

/** Returns what a request cost; `≥` where that is only a part. As in `usage`, `plan` where one paid, and `free` where tokens cost nothing. */
export function describeCost(cost: Cost, record: Charged): string {
  const { amount_usd: amount, missing, from } = cost;
  if (from === "free" && record.tokens !== null) return isPlanUpstream(record.upstream) ? "plan" : "free";
  if (amount === null) return missing.length > 0 ? "unpriced" : "unknown";
  return `${boundOf(cost)}${formatDollars(Number(amount))}`;
}

function boundOf({ is_complete: isComplete, is_lower_bound: isBound }: Cost): string {
  return isComplete && !isBound ? "" : "≥";
}

/** Shows what a request cost, line by line. */
export function costTable(cost: Cost, record: Charged): HTMLElement {
  if (cost.lines.length === 0)
    return element("p", {}, `Cost: ${describeCost(cost, record)}${originOf(cost, record)}.`);
  return lineTable("What it cost", cost);
}

/** Shows what a request that a plan paid would have cost with a key, line by line. */
export function worthTable(worth: Cost, record: Charged): HTMLElement {
  if (worth.lines.length === 0) return element("p", {}, `Worth: ${describeCost(worth, record)}.`);
  return lineTable("What it would have cost with a key", worth);
}

function lineTable(title: string, cost: Cost): HTMLElement {
  const { lines, amount_usd: amount, missing } = cost;
  // Most prices have no factors.
  const hasFactors = lines.some(({ factors }) => factors.length > 0);
  // The amount is next to the name, where a phone shows it.
  const cells = (name: string, dollars: string, count: string, price: string, factors: string) =>
    row([name, dollars, count, price, ...(hasFactors ? [factors] : [])]);
  const rows = lines.map((line) =>
    cells(
      line.class.replaceAll("_", " "),
      line.amount_usd,
      formatCount(line.count),
      priceOf(line),
      factorsOf(line),
    ),
  );
  const total = cells("total", amount === null ? "unknown" : `${boundOf(cost)}${amount}`, "", "", "");
  return element(
    "div",
    { class: "table" },
    element(
      "table",
      { class: "cost" },
      element("caption", {}, `${title}, in US dollars, by the prices of ${sourcesOf(cost)}`),
      element("thead", {}, cells("", "amount", "count", "price", "times")),
      element("tbody", {}, ...rows),
      element("tfoot", {}, total),
    ),
    ...(missing.length === 0
      ? []
      : [element("p", {}, `Without a price: ${missing.map(({ what }) => what).join(", ")}.`)]),
  );
}

function originOf({ from }: Cost, { tokens, upstream }: Charged): string {
  if (from === "free" && tokens !== null && isPlanUpstream(upstream)) return ", because the tool's plan paid";
  if (from === "billed") return ", which the service says that it charged";
  return from === "free" ? ", because nothing was charged" : "";
}

function sourcesOf({ lines }: Cost): string {
  return [...new Set(lines.map(({ source, model }) => `${source} for ${model}`))].join(" and ");
}

function priceOf({ usd, per }: CostLine): string {
  return `${usd} per ${formatCompact(per)}`;
}

function factorsOf({ factors }: CostLine): string {
  return factors.map(({ what, value }) => `${value} (${what})`).join(", ");
}

function row([name = "", ...cells]: readonly string[]): HTMLElement {
  return element(
    "tr",
    {},
    element("th", { attributes: { scope: "row" } }, name),
    ...cells.map((cell) => element("td", {}, cell)),
  );
}
