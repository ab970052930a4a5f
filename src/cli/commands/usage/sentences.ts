import type { ReportRow } from "../../../core/ledger/report.ts";
import { formatInColumn } from "../../../core/price/money.ts";
import type { PriceTable } from "../../../core/price/price-table.ts";
import type { SpendingCost } from "../../../core/price/spending.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { formatShare } from "../../prices/format-cost.ts";
import { inputOf } from "./columns.ts";

/** Returns what a table needs to be understood, by its total. Few sentences where everything is exact; none without any request. */
export function describeTotal(total: ReportRow, table: PriceTable): string[] {
  const { requests } = total.sums;
  const certainty = [describeCoverage(total), describeBounds(total)].filter((one) => one !== null);
  return [
    requests > 0 && certainty.join(" "),
    describeCost(total.cost, table),
    describeSaved(total),
    describeTrouble(total),
  ].filter((one) => one !== null && one !== false);
}

/** Says how sure the sums of tokens are, in the words of the columns. */
export function describeCoverage({ sums: { requests, partial, absent } }: ReportRow): string {
  const exact = requests - partial - absent;
  if (exact === requests) return "All token counts are exact.";
  const parts = [
    `Token counts are exact for ${formatNumber(exact)} of ${pluralize(requests, "request")}.`,
    partial > 0 && `${formatNumber(partial)} ${be(partial)} partial: the response ended early.`,
    absent > 0 &&
      `${formatNumber(absent)} ${be(absent)} uncounted: the response came without token counts, so neither tokens nor cost include ${absent === 1 ? "it" : "them"}.`,
  ];
  return parts.filter((part) => part !== false).join(" ");
}

/** Explains the sign of a lower bound; null where there is none. Where no other sentence says why, it does. */
function describeBounds({ sums: { partial, absent }, cost }: ReportRow): string | null {
  if (partial + absent > 0 || (cost.unpriced.length > 0 && cost.amount > 0n)) return "≥ means at least.";
  return cost.isExact || cost.amount === 0n
    ? null
    : "≥ means at least: some responses left out what their price depends on.";
}

/** Says where the costs come from; null where there are none. */
function describeCost({ amount, billed, own }: SpendingCost, { source, asOf }: PriceTable): string | null {
  const from = [
    amount > billed + own && `pay-per-use list prices of ${asOf} (${source})`,
    own > 0n && "your own prices",
  ].filter((one) => one !== false);
  const caveat = "not a bill, and not what a subscription costs";
  if (amount === 0n) return null;
  if (from.length === 0) return "The cost is what the provider reported.";
  const computed = `is computed from ${from.join(" and ")}: ${caveat}.`;
  return billed === 0n
    ? `The cost ${computed}`
    : `Of the cost, the provider reported ${formatInColumn(billed, amount)}. The rest ${computed}`;
}

/** Says what the cache saved, or cost; null where that is nothing, or nearly. */
function describeSaved({ sums, cost: { saved, billed, amount } }: ReportRow): string | null {
  const dollars = formatInColumn(saved < 0n ? -saved : saved, amount);
  if (saved === 0n || dollars.startsWith("<")) return null;
  const what =
    saved > 0n
      ? `Cache reads (${formatShare(sums.cache_read, inputOf(sums))} of the tokens in) saved ${dollars} compared to full-price input, surcharges for cache writes deducted`
      : `Cache writes cost ${dollars} more than cache reads saved`;
  return billed > 0n ? `${what}; requests with a reported cost are not included.` : `${what}.`;
}

/** Names what has no price; null when everything has one. */
export function describeUnpriced({ unpriced }: SpendingCost): string | null {
  if (unpriced.length === 0) return null;
  const most = unpriced.toSorted((a, b) => b.requests - a.requests);
  const listed = most.slice(0, MOST_LISTED).map(({ model, what, requests }) => {
    const name = model === null ? "a model that is not named" : toPrintable(model);
    const part = what === "model" ? name : `${name} (${toPrintable(what)})`;
    return requests > 0 ? `${part} in ${pluralize(requests, "request")}` : part;
  });
  const rest = most.length - listed.length;
  const more = rest > 0 ? `, and ${pluralize(rest, "more")}` : "";
  return `Not in the cost, because no price is known: ${listed.join(", ")}${more}. To set prices (the key is "prices"), type:\n  tollkeeper config edit`;
}

/** A longer list is not read; `--json` has it all. */
const MOST_LISTED = 5;

/** Says how many requests failed, beside those that the table counts, and what went wrong as shares of both; null when nothing did. */
function describeTrouble({ sums: { requests, failed, cut, retries } }: ReportRow): string | null {
  const all = requests + failed;
  const part = (count: number, words: string) => count > 0 && `${shareOf(count, all)} ${words}`;
  const shares = [
    part(failed, "failed"),
    part(cut, cut === 1 ? "was cut short" : "were cut short"),
    part(retries, retries === 1 ? "was a retry" : "were retries"),
  ].filter((one) => one !== false);
  if (shares.length === 0) return null;
  const more = `${formatNumber(failed)} ${requests > 0 ? "more " : ""}request${failed === 1 ? "" : "s"}`;
  const sentences = [
    failed > 0 && `${more} failed and spent nothing.`,
    all !== failed && `Of all ${formatNumber(all)}${failed > 0 ? "" : " requests"}, ${listOf(shares)}.`,
    failed > 0 && "To see how, add --by=outcome.",
  ];
  return sentences.filter((one) => one !== false).join(" ");
}

function shareOf(count: number, all: number): string {
  const percent = (100 * count) / all;
  if (percent >= 10) return `${Math.round(percent)}%`;
  return percent < 0.05 ? "<0.1%" : `${percent.toFixed(1)}%`;
}

function listOf(parts: readonly string[]): string {
  const [last = "", ...others] = parts.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
}

function be(count: number): string {
  return count === 1 ? "is" : "are";
}

/** Names the columns for which the terminal is too narrow; null without any. */
export function describeHidden(heads: readonly string[]): string | null {
  return heads.length === 0
    ? null
    : `Hidden at this width: ${heads.join(", ")}. To see all columns, add --wide.`;
}
