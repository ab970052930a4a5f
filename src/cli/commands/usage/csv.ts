import { formatIfKnown, formatMoney } from "../../../core/price/money.ts";
import { knownAmount } from "../../../core/price/spending.ts";
import type { ReportRow } from "../../../core/ledger/report.ts";
import { csvLine } from "../../../core/text/csv.ts";
import type { LedgerReport } from "./report.ts";

/** What was summed, without names. */
type SummedRow = Pick<ReportRow, "sums" | "cost" | "missed">;

/** In the order of the columns, after the names. */
const FIELDS: readonly (readonly [name: string, value: (row: SummedRow) => string | number | null])[] = [
  ...(
    [
      "requests",
      "failed",
      "input_uncached",
      "cache_read",
      "cache_write",
      "output",
      "reasoning",
      "reasoning_unknown",
      "partial",
      "absent",
      "maybe_unbilled",
      "cut",
      "retries",
    ] as const
  ).map((name) => [name, ({ sums }: SummedRow) => sums[name]] as const),
  // A spreadsheet would take 0 for the cost of what has no price, or no usage.
  ["cost_usd", ({ cost }) => formatIfKnown(knownAmount(cost))],
  ["cost_is_exact", ({ cost }) => String(cost.isExact)],
  ["billed_usd", ({ cost }) => formatMoney(cost.billed)],
  ["plan_worth_usd", ({ cost: { worth } }) => (worth === null ? null : formatMoney(worth.amount))],
  ["refused", ({ sums }) => sums.refused],
  ["plan_requests", ({ sums }) => sums.plan_requests],
  ["plan_worth_is_exact", ({ cost: { worth } }) => (worth === null ? null : String(worth.isExact))],
  ["misses", ({ sums }) => sums.misses],
  ["miss_tokens", ({ sums }) => sums.miss_tokens],
  ["miss_cost_usd", ({ missed }) => (missed == null ? null : formatMoney(missed.amount))],
  ["miss_plan_worth_usd", ({ missed }) => (missed?.worth == null ? null : formatMoney(missed.worth))],
  ["miss_cost_is_exact", ({ missed }) => (missed == null ? null : String(missed.isExact))],
  ["extra_requests", ({ sums }) => sums.extra_requests],
  ["extra_cost_usd", ({ cost }) => formatMoney(cost.extra)],
  ["own_requests", ({ sums }) => sums.own_requests],
  ["own_worth_usd", ({ cost: { ownWorth } }) => (ownWorth === null ? null : formatMoney(ownWorth.amount))],
  ["own_worth_is_exact", ({ cost: { ownWorth } }) => (ownWorth === null ? null : String(ownWorth.isExact))],
  ["failed_midway", ({ sums }) => sums.failed_midway],
];

/** Renders header and rows as CSV lines (RFC 4180) without line ends. There is no total, which spreadsheets would add in. */
export function renderCsv({ by, rows }: LedgerReport): string[] {
  return renderCsvRows(
    by,
    rows.map((row) => [row.names, row]),
  );
}

/** Renders a header with these names, and rows with theirs. */
export function renderCsvRows(
  heads: readonly string[],
  rows: readonly (readonly [names: readonly (string | null)[], row: SummedRow])[],
): string[] {
  const lines = rows.map(([names, { sums, cost, missed }]) => {
    const row = { sums, cost, missed };
    return csvLine([
      ...names.map((name) => name ?? ""),
      ...FIELDS.map(([, value]) => String(value(row) ?? "")),
    ]);
  });
  return [csvLine([...heads, ...FIELDS.map(([name]) => name)]), ...lines];
}
