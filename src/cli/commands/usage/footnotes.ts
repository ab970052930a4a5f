import type { ReportRow } from "../../../core/ledger/report.ts";
import { formatInColumn } from "../../../core/price/money.ts";
import type { PriceTable } from "../../../core/price/price-table.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { withProgramName } from "../../terminal/program-name.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { shorten } from "../../terminal/width.ts";
import { failedOf } from "./columns.ts";
import { shareOf } from "./sentences.ts";

/** What a table on a terminal is explained by. */
interface Explained {
  total: ReportRow;
  table: PriceTable;
  /** True where another grouping may be asked for. */
  canSeeHow: boolean;
  /** The headings of the columns that gave way. */
  hidden: readonly string[];
}

const BETWEEN = " · ";

/**
 * Returns what a person at a terminal needs below a table: a line of facts and a line of what to type, each no longer than `width`. Where
 * there is no room, the last ones are left out: `--wide` and pipes have all of it in sentences.
 */
export function footnotes(explained: Explained, width: number): string[] {
  const [long, short] = [true, false].map((hasShares) => adviceOf(explained, hasShares).map(withProgramName));
  const isLong = joined(long ?? []).length <= width;
  return [joinFitting(factsOf(explained), width), joinFitting((isLong ? long : short) ?? [], width)].filter(
    (line) => line !== "",
  );
}

function joined(parts: readonly string[]): string {
  return parts.join(BETWEEN);
}

function joinFitting(parts: readonly string[], width: number): string {
  const [first = "", ...others] = parts;
  return others.reduce(
    (line, part) => (line.length + BETWEEN.length + part.length > width ? line : line + BETWEEN + part),
    shorten(first, width),
  );
}

function factsOf({ total, table }: Explained): string[] {
  const { cost } = total;
  const { saved, amount } = cost;
  const dollars = formatInColumn(saved < 0n ? -saved : saved, amount);
  const cache = saved < 0n ? `the cache cost ${dollars}` : `the cache saved ${dollars}`;
  return [
    describeBound(total),
    describePrices(total, table),
    describePlans(total),
    describeExtra(total),
    describeOwnKeys(total),
    saved !== 0n && !dollars.startsWith("<") && cache,
  ].filter((part) => part !== false && part !== null);
}

/** Says why figures have the sign of a lower bound. */
function describeBound({ sums: { partial, absent }, cost }: ReportRow): string | null {
  const unpriced = cost.unpriced.reduce((sum, one) => sum + one.requests, 0);
  const parts = [
    partial > 0 && `${formatNumber(partial)} partial`,
    absent > 0 && `${formatNumber(absent)} uncounted`,
    unpriced > 0 && `${formatNumber(unpriced)} unpriced`,
  ].filter((part) => part !== false);
  if (parts.length > 0) return `≥ means at least: ${parts.join(", ")}`;
  return cost.isExact || cost.amount === 0n
    ? null
    : "≥ means at least: not all that a price depends on was reported";
}

/** Explains the column `worth`. */
function describePlans({ sums: { requests, plan_requests: paid } }: ReportRow): string | null {
  return paid === 0
    ? null
    : `plans paid ${formatNumber(paid)} of ${pluralize(requests, "request")}, at no cost`;
}

/** Explains `extra` in the column `paid by`. */
function describeExtra({ sums: { extra_requests: extra }, cost }: ReportRow): string | null {
  return extra === 0 ? null : `${formatInColumn(cost.extra, cost.amount)} of the cost is extra use of plans`;
}

/** Explains the column `own keys`. */
function describeOwnKeys({ sums: { requests, own_requests: paid } }: ReportRow): string | null {
  return paid === 0
    ? null
    : `tools' own keys paid ${formatNumber(paid)} of ${pluralize(requests, "request")}, in no cost`;
}

function describePrices({ cost: { amount, billed, own } }: ReportRow, { asOf }: PriceTable): string | false {
  if (amount === 0n) return false;
  if (amount > billed + own) return `estimate at list prices of ${asOf}`;
  return own > 0n ? "estimate at your own prices" : "cost as reported by the provider";
}

/** Shares of all requests are left out where they would leave no room for other advice. */
function adviceOf({ total: { sums, cost }, canSeeHow, hidden }: Explained, hasShares: boolean): string[] {
  const { requests, failed, refused } = sums;
  const all = requests + failed;
  const how = canSeeHow ? ": --by outcome" : "";
  const dearest = cost.unpriced.toSorted((a, b) => b.requests - a.requests)[0]?.model ?? null;
  return [
    failed > 0 &&
      `${describeUnspent(
        [
          [refused, "refused"],
          [failedOf(sums), "failed"],
        ],
        hasShares ? all : null,
      )}${how}`,
    dearest !== null && `no price: ${formatCommand(["tollkeeper", "prices", toPrintable(dearest)])}`,
    hidden.length > 0 && `${pluralize(hidden.length, "more column")}: --wide`,
  ].filter((part) => part !== false);
}

/** Says e.g. `12 refused (4.0%), 3 failed (1.0%)`; without shares where `all` is null. */
function describeUnspent(
  counts: readonly (readonly [count: number, what: string])[],
  all: number | null,
): string {
  return counts
    .filter(([count]) => count > 0)
    .map(
      ([count, what]) => `${formatNumber(count)} ${what}${all === null ? "" : ` (${shareOf(count, all)})`}`,
    )
    .join(", ");
}
