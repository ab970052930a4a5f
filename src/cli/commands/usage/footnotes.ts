import type { ReportRow } from "../../../core/ledger/report.ts";
import { formatInColumn } from "../../../core/price/money.ts";
import type { PriceTable } from "../../../core/price/price-table.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { withProgramName } from "../../terminal/program-name.ts";
import { formatNumber } from "../../terminal/format.ts";
import { shorten } from "../../terminal/width.ts";
import { allRequestsOf, failedOf, scaleOf } from "./columns.ts";
import { shareOf } from "./sentences.ts";

/** What a table on a terminal is explained by. */
interface Explained {
  total: ReportRow;
  table: PriceTable;
  /** True where another grouping may be asked for. */
  canSeeHow: boolean;
  /** Whether there are more columns. */
  hasMore: boolean;
}

const BETWEEN = " · ";

/** So many parts of the advice have room at any width. */
const NEEDED = 2;

/**
 * Returns what a person at a terminal needs below a table: a line of facts and a line of what to type, each no longer than `width`. Where
 * there is no room, the last ones are left out: `--wide` and pipes have all of it in sentences.
 */
export function footnotes(explained: Explained, width: number): string[] {
  const details: readonly Detail[] = ["shares", "how", "counts"];
  const advice = details.map((detail) => adviceOf(explained, detail).map(withProgramName));
  const [whole = [], short = [], least = []] = advice;
  const hasRoom = (parts: readonly string[]) => joined(parts.slice(0, NEEDED)).length <= width;
  const chosen = joined(whole).length <= width ? whole : hasRoom(short) ? short : least;
  return [joinFitting(factsOf(explained), width), joinFitting(chosen, width)].filter((line) => line !== "");
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
    describePlans(total),
    describeExtra(total),
    describeOwnKeys(total),
    describePrices(total, table),
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

/** Stands for the column `worth` where that has given way. */
function describePlans({ sums: { plan_requests: paid }, cost }: ReportRow): string | null {
  if (paid === 0) return null;
  const { worth } = cost;
  const dollars =
    worth === null ? "" : `, worth ${worth.isExact ? "" : "≥"}${formatInColumn(worth.amount, scaleOf(cost))}`;
  return `plans paid ${formatNumber(paid)}${dollars}`;
}

/** Explains `extra` in the column `paid by`. */
function describeExtra({ sums: { extra_requests: extra }, cost }: ReportRow): string | null {
  return extra === 0 ? null : `${formatInColumn(cost.extra, cost.amount)} of the cost is extra use of plans`;
}

/** Explains the column `own keys`. */
function describeOwnKeys({ sums: { own_requests: paid } }: ReportRow): string | null {
  return paid === 0 ? null : `tools' own keys paid ${formatNumber(paid)}, in no cost`;
}

function describePrices({ cost: { amount, billed, own } }: ReportRow, { asOf }: PriceTable): string | false {
  if (amount === 0n) return false;
  if (amount > billed + own) return `estimate at list prices of ${asOf}`;
  return own > 0n ? "estimate at your own prices" : "cost as reported by the provider";
}

/** How much is said of what was not completed: with shares, how to see more, or only the counts. */
type Detail = "shares" | "how" | "counts";

/** What was not completed, and that columns are hidden, come before what else there is to do. */
function adviceOf({ total: { sums, cost }, canSeeHow, hasMore }: Explained, detail: Detail): string[] {
  const { refused } = sums;
  const failed = failedOf(sums);
  const how = canSeeHow && detail !== "counts" ? ": --by outcome" : "";
  const dearest = cost.unpriced.toSorted((a, b) => b.requests - a.requests)[0]?.model ?? null;
  return [
    failed + refused > 0 &&
      `${describeUnspent(
        [
          [refused, "refused"],
          [failed, "failed"],
        ],
        detail === "shares" ? allRequestsOf(sums) : null,
      )}${how}`,
    hasMore && "more columns: --wide",
    dearest !== null && `no price: ${formatCommand(["tollkeeper", "prices", toPrintable(dearest)])}`,
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
