import type { ReportRow } from "../../../core/ledger/report.ts";
import { formatInColumn } from "../../../core/price/money.ts";
import type { PriceTable } from "../../../core/price/price-table.ts";
import type { SpendingCost } from "../../../core/price/spending.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { CLASS_TITLES } from "../../prices/cost-rows.ts";
import { formatShare } from "../../prices/format-cost.ts";
import { allRequestsOf, failedOf, inputOf, scaleOf } from "./columns.ts";

/**
 * Returns what a table needs to be understood, by its total: few sentences where everything is exact.
 * @param by the groupings of the table, where another one may be asked for
 */
export function describeTotal(total: ReportRow, table: PriceTable, by: readonly string[] | null): string[] {
  const { requests } = total.sums;
  const certainty = [describeCoverage(total), describeBounds(total)].filter((one) => one !== null);
  return [
    requests > 0 && certainty.join(" "),
    describeCost(total.cost, table),
    describePlans(total),
    describeExtra(total),
    describeOwnKeys(total),
    describeSaved(total),
    describeTrouble(total, by !== null && !by.includes("outcome")),
  ].filter((one) => one !== null && one !== false);
}

/** Says how sure the sums of tokens are, in the words of the columns. */
export function describeCoverage({ sums: { requests, failed, partial, absent } }: ReportRow): string {
  const exact = requests - partial - absent;
  if (exact === requests) return "Tokens: all counts are exact.";
  const parts = [
    `exact for ${formatNumber(exact)} of ${pluralize(requests, "request")}${failed > 0 ? " that used any" : ""}`,
    partial > 0 && `${formatNumber(partial)} partial (the response ended early, or its figures disagree)`,
    absent > 0 && `${formatNumber(absent)} uncounted (no token counts came back: not in tokens or cost)`,
  ];
  return `Tokens: ${parts.filter((part) => part !== false).join("; ")}.`;
}

/** Explains the sign of a lower bound; null where there is none. Where no other sentence says why, it does. */
function describeBounds({ sums: { partial, absent }, cost }: ReportRow): string | null {
  if (partial + absent > 0 || (cost.unpriced.length > 0 && cost.amount > 0n)) return "≥ means at least.";
  return cost.isExact || cost.amount === 0n
    ? null
    : "≥ means at least: some responses left out what their price depends on.";
}

/** Says where the cost comes from; null where there is none. */
function describeCost({ amount, billed, own }: SpendingCost, { source, asOf }: PriceTable): string | null {
  if (amount === 0n) return null;
  const prices = [
    amount > billed + own && `pay-per-use list prices of ${asOf} (${source})`,
    own > 0n && "your own prices",
  ].filter((one) => one !== false);
  if (prices.length === 0) return "Cost: as reported by the provider.";
  const reported =
    billed > 0n ? `${formatInColumn(billed, amount)} as reported by the provider, the rest at ` : "";
  return `Cost: ${reported}${prices.join(" and ")}. An estimate, not a bill.`;
}

/** Says what plans paid, which is in no cost; null where none did. */
function describePlans({ sums: { requests, plan_requests: paid }, cost }: ReportRow): string | null {
  if (paid === 0) return null;
  const { worth } = cost;
  const dollars = worth === null ? null : formatInColumn(worth.amount, scaleOf(cost));
  const known =
    dollars === null
      ? ""
      : `, worth ${worth?.isExact === true ? "" : "at least "}${dollars} at the prices of a key`;
  return `Plans: paid for ${formatNumber(paid)} of ${pluralize(requests, "request")}${known}. That is in no cost.`;
}

/** Says what plans' services charge as use beyond the plans; null where they charge nothing. */
function describeExtra({
  sums: { requests, extra_requests: extra },
  cost: { amount, extra: charged },
}: ReportRow): string | null {
  if (extra === 0) return null;
  return `Extra use of plans: ${formatNumber(extra)} of ${pluralize(requests, "request")}, ${formatInColumn(charged, amount)} of the cost.`;
}

/** Says what tools paid with keys of their own, which is in no cost; null where none did. */
function describeOwnKeys({ sums: { requests, own_requests: paid }, cost }: ReportRow): string | null {
  if (paid === 0) return null;
  const { ownWorth } = cost;
  const dollars = ownWorth === null ? null : formatInColumn(ownWorth.amount, scaleOf(cost));
  const known =
    dollars === null ? "" : `, for ${ownWorth?.isExact === true ? "" : "at least "}${dollars} at list prices`;
  return `Own keys of tools: paid for ${formatNumber(paid)} of ${pluralize(requests, "request")}${known}. That is in no cost.`;
}

/** Says what the cache saved, or cost; null where that is nothing, or nearly. */
function describeSaved({ sums, cost: { saved, billed, amount } }: ReportRow): string | null {
  const dollars = formatInColumn(saved < 0n ? -saved : saved, amount);
  if (saved === 0n || dollars.startsWith("<")) return null;
  if (saved < 0n) return `Cache: cost ${dollars} more than it saved.`;
  // A provider that reports a cost does not say what it would have been without a cache.
  const aside = billed > 0n ? ", not counting reported costs" : "";
  return `Cache: saved ${dollars} against full-price input${aside}; ${formatShare(sums.cache_read, inputOf(sums))} of the input tokens came from the cache.`;
}

/** Names what has no price; null when everything has one. */
export function describeUnpriced({ unpriced }: Pick<SpendingCost, "unpriced">): string | null {
  if (unpriced.length === 0) return null;
  const ofModels = new Map<string | null, string[]>();
  for (const { model, what, requests } of unpriced.toSorted((a, b) => b.requests - a.requests)) {
    const count = requests > 0 ? ` in ${pluralize(requests, "request")}` : "";
    const part = what === "model" ? count : ` (${titleOf(what)})${count}`;
    ofModels.set(model, [...(ofModels.get(model) ?? []), part]);
  }
  const most = [...ofModels];
  const listed = most.slice(0, MOST_LISTED).map(([model, parts]) => {
    const name = model === null ? "a model that is not named" : toPrintable(model);
    return `${name}${parts.join(" and")}`;
  });
  const rest = most.length - listed.length;
  const more = rest > 0 ? `, and ${formatNumber(rest)} more` : "";
  return `The cost leaves out what has no known price: ${listed.join(", ")}${more}. To set prices, add them under "prices" with:\n  tollkeeper config edit`;
}

/** What of a model has no price: a class of tokens by the title that tables of prices have for it. */
function titleOf(what: string): string {
  return Object.hasOwn(CLASS_TITLES, what)
    ? CLASS_TITLES[what as keyof typeof CLASS_TITLES]
    : toPrintable(what);
}

/** Says of how many lines of the ledger no sum knows. */
export function describeUnreadable(count: number, first: { file: string; line: number }): string {
  return `The sums do not include ${pluralize(count, "unreadable line")} of the ledger, the first of which is ${first.file}:${first.line}. To see why, type:\n  tollkeeper ledger verify`;
}

/** A longer list is not read; `--json` has it all. */
const MOST_LISTED = 5;

/** Says how many of all requests failed, were refused or were cut short; null where none was. */
function describeTrouble({ sums }: ReportRow, canSeeHow: boolean): string | null {
  const { refused, cut, retries, failed_midway: midway } = sums;
  const failed = failedOf(sums);
  const all = allRequestsOf(sums);
  const counts = [
    failed > 0 && `${formatNumber(failed)} failed (${shareOf(failed, all)})${describeFree(failed, midway)}`,
    refused > 0 && `tollkeeper refused ${formatNumber(refused)} (${shareOf(refused, all)})`,
    cut > 0 && `${formatNumber(cut)} ${cut === 1 ? "was" : "were"} cut short (${shareOf(cut, all)})`,
    retries > 0 &&
      `${formatNumber(retries)} ${retries === 1 ? "was a retry" : "were retries"} (${shareOf(retries, all)})`,
  ].filter((one) => one !== false);
  if (counts.length === 0) return null;
  const how = failed + refused > 0 && canSeeHow ? " To see how, use --by outcome." : "";
  return `Of ${pluralize(all, "request")}: ${counts.join("; ")}.${how}`;
}

/** What failed before the service did anything has cost nothing. */
function describeFree(failed: number, midway: number): string {
  if (midway === 0) return ", at no cost";
  return midway === failed ? "" : `, ${formatNumber(failed - midway)} of them at no cost`;
}

/** Returns a share in percent, e.g. `5.5%`. */
export function shareOf(count: number, all: number): string {
  const percent = (100 * count) / all;
  if (percent >= 10) return `${Math.round(percent)}%`;
  return percent < 0.05 ? "<0.1%" : `${percent.toFixed(1)}%`;
}

/** Names the columns for which the terminal is too narrow; null without any. */
export function describeHidden(heads: readonly string[]): string | null {
  return heads.length === 0
    ? null
    : `Hidden at this width: ${heads.join(", ")}. To see all columns, add --wide.`;
}
