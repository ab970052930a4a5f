import type { Distribution } from "../../../core/ledger/times/distribution.ts";
import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { ReportRow, Sums } from "../../../core/ledger/report.ts";
import { LongList } from "../../../core/text/json-pieces.ts";
import { formatIfKnown, formatMoney, type Money } from "../../../core/price/money.ts";
import { knownAmount } from "../../../core/price/spending.ts";
import type { LedgerReport } from "./report.ts";

/** Version of the document. It rises when a field is removed or changes its meaning. */
export const REPORT_VERSION = 1;

/** Returns the report as a document for programs, with the ledger's field names. Unknown sums are null, and money is decimal text. */
export function toDocument(report: LedgerReport): object {
  const { by, period, calendar, sandbox, skipped, sumsOnly, prices } = report;
  return {
    v: REPORT_VERSION,
    by,
    since: new Date(period.since).toISOString(),
    until: period.until === null ? null : new Date(period.until).toISOString(),
    time_zone: calendar.zone,
    prices: { source: prices.table.source, as_of: prices.table.asOf },
    ...toSums(by, report),
    sandbox: toSums(by, sandbox),
    unreadable_lines: skipped.count,
    sums_only: sumsOnly === null ? null : { first: sumsOnly.first, last: sumsOnly.last },
  };
}

/** Each row has its names by their groupings. */
function toSums(by: readonly Grouping[], { rows, total }: Sums): object {
  const toRow = (row: ReportRow) => {
    const { names } = row;
    return Object.assign(
      Object.fromEntries(by.map((grouping, at) => [grouping, names[at] ?? null])),
      toFields(row),
    );
  };
  return { rows: new LongList(rows, toRow), total: toFields(total) };
}

/** Returns the fields of sums: counts by their names in the ledger, and money as decimal text. */
export function toFields({ sums, cost, missed = null }: Pick<ReportRow, "sums" | "cost" | "missed">): object {
  const known = knownAmount(cost);
  // Written out, because any loop over names takes longer than the rest of a row.
  return {
    requests: sums.requests,
    failed: sums.failed,
    refused: sums.refused,
    input_uncached: sums.input_uncached,
    cache_read: sums.cache_read,
    cache_write: sums.cache_write,
    output: sums.output,
    reasoning: sums.reasoning,
    reasoning_unknown: sums.reasoning_unknown,
    partial: sums.partial,
    absent: sums.absent,
    maybe_unbilled: sums.maybe_unbilled,
    cut: sums.cut,
    retries: sums.retries,
    misses: sums.misses,
    miss_tokens: sums.miss_tokens,
    plan_requests: sums.plan_requests,
    extra_requests: sums.extra_requests,
    own_requests: sums.own_requests,
    cost_usd: formatIfKnown(known),
    cost_is_exact: cost.isExact,
    billed_usd: formatMoney(cost.billed),
    extra_cost_usd: formatMoney(cost.extra),
    plan_worth_usd: cost.worth === null ? null : formatMoney(cost.worth.amount),
    plan_worth_is_exact: cost.worth?.isExact ?? null,
    own_worth_usd: cost.ownWorth === null ? null : formatMoney(cost.ownWorth.amount),
    own_worth_is_exact: cost.ownWorth?.isExact ?? null,
    cache_saved_usd: known === null ? null : formatSaved(cost.saved),
    miss_cost_usd: missed === null ? null : formatMoney(missed.amount),
    miss_plan_worth_usd: missed?.worth == null ? null : formatMoney(missed.worth),
    miss_cost_is_exact: missed?.isExact ?? null,
    unpriced: cost.unpriced,
    ttft_ms: toQuantiles(sums.ttft),
    tokens_per_second: toQuantiles(sums.speed),
  };
}

function formatSaved(saved: Money): string {
  return saved < 0n ? `-${formatMoney(-saved)}` : formatMoney(saved);
}

/** null without any. */
function toQuantiles(distribution: Distribution): object | null {
  const [median, p95] = [0.5, 0.95].map((share) => distribution.quantile(share));
  return typeof median === "number" && typeof p95 === "number"
    ? { median: Number(median.toPrecision(3)), p95: Number(p95.toPrecision(3)) }
    : null;
}
