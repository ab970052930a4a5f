import type { ReportRow } from "../../../core/ledger/report.ts";
import { formatDollars } from "../../../core/price/money.ts";
import type { PriceTable } from "../../../core/price/price-table.ts";
import type { SpendingCost } from "../../../core/price/spending.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { formatShare } from "../../prices/format-cost.ts";
import { inputOf } from "./columns.ts";

/** Says in a sentence how sure the sums of tokens are. */
export function describeCoverage({ sums: { requests, partial, absent } }: ReportRow): string {
  const exact = requests - partial - absent;
  if (exact === requests)
    return requests === 1 ? "The request is exact." : `All ${formatNumber(requests)} requests are exact.`;
  const parts = [
    `${formatNumber(exact)} of ${pluralize(requests, "request")} ${be(exact)} exact`,
    partial > 0 && `${formatNumber(partial)} ${be(partial)} a lower bound, because the response ended early`,
    absent > 0 &&
      `${formatNumber(absent)} ${be(absent)} unknown and not in the sums, because the response reported no usage`,
  ];
  return `${parts.filter((part) => part !== false).join("; ")}.`;
}

/** Says where the costs come from, and what the cache saved. */
export function describeCost({ sums, cost }: ReportRow, { source, asOf }: PriceTable): string[] {
  const reckoned = cost.amount - cost.billed;
  const saved = formatDollars(cost.saved < 0n ? -cost.saved : cost.saved);
  const prices = `list prices (${source}, ${asOf}) or your own`;
  const share = formatShare(sums.cache_read, inputOf(sums));
  const sentences = [
    cost.billed > 0n && reckoned === 0n && "The cost is what the service said it charged.",
    cost.billed > 0n &&
      reckoned > 0n &&
      `Of the cost, ${formatDollars(cost.billed)} is what services said they charged, and ${formatDollars(reckoned)} is computed from ${prices}.`,
    cost.billed === 0n && reckoned > 0n && `The cost is computed from ${prices}. It is not a bill.`,
    cost.saved > 0n && `Reading ${share} of the input from cache saved ${saved}.`,
    cost.saved < 0n && `Writing to the cache cost ${saved} more than reading from it saved.`,
  ];
  return sentences.filter((one) => one !== false);
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
  return `Not in the cost, because no price is known: ${listed.join(", ")}${more}. To set a price, type: tollkeeper config edit (the key is "prices").`;
}

/** A longer list is not read; `--json` has it all. */
const MOST_LISTED = 5;

/** Says how many requests went wrong, as a share of all; null when none did. */
export function describeTrouble({ sums: { requests, failed, cut, retries } }: ReportRow): string | null {
  const all = requests + failed;
  const part = (count: number, words: string) =>
    count > 0 && `${formatNumber(count)} (${shareOf(count, all)}) ${words}`;
  const parts = [
    part(failed, "failed without spending anything"),
    part(cut, cut === 1 ? "was cut short" : "were cut short"),
    part(retries, retries === 1 ? "was a further attempt" : "were further attempts"),
  ].filter((one) => one !== false);
  return parts.length === 0 ? null : `Of ${pluralize(all, "request")}, ${listOf(parts)}.`;
}

function shareOf(count: number, all: number): string {
  const percent = (100 * count) / all;
  return `${percent < 10 ? percent.toFixed(1) : Math.round(percent)}%`;
}

function listOf(parts: readonly string[]): string {
  const [last = "", ...others] = parts.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
}

function be(count: number): string {
  return count === 1 ? "is" : "are";
}
