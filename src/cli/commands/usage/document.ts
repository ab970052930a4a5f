import type { Distribution } from "../../../core/ledger/times/distribution.ts";
import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { ReportRow, Sums } from "../../../core/ledger/report.ts";
import { LongList } from "../../../core/text/json-pieces.ts";
import { formatIfKnown, formatMoney, type Money } from "../../../core/price/money.ts";
import type { MissedCost } from "../../../core/price/missed.ts";
import { knownAmount, type SpendingCost } from "../../../core/price/spending.ts";
import type { Tally } from "../../../core/ledger/tally.ts";
import type { LedgerReport } from "./report.ts";

/** Version of the document. It rises when a field is removed or changes its meaning. */
export const REPORT_VERSION = 1;

/** The fields of sums, in their order. To read them takes most of the time of a long report, each kind by itself. */
const COUNT_FIELDS = [
  "requests",
  "failed",
  "refused",
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
  "misses",
  "miss_tokens",
  "failed_midway",
  "plan_requests",
  "extra_requests",
  "own_requests",
] as const;
const COST_FIELDS = [
  "cost_usd",
  "cost_is_exact",
  "billed_usd",
  "extra_cost_usd",
  "plan_worth_usd",
  "plan_worth_is_exact",
  "own_worth_usd",
  "own_worth_is_exact",
  "cache_saved_usd",
  "miss_cost_usd",
  "miss_plan_worth_usd",
  "miss_cost_is_exact",
  "unpriced",
] as const;
const TIME_FIELDS = ["ttft_ms", "tokens_per_second"] as const;

/** All fields of sums. */
export const REPORT_FIELDS = [...COUNT_FIELDS, ...COST_FIELDS, ...TIME_FIELDS];

type ReportField = (typeof REPORT_FIELDS)[number];

/**
 * Returns the report as a document for programs, with the ledger's field names. Unknown sums are null, and money is decimal text.
 * @param fields what sums have; usually all
 */
export function toDocument(report: LedgerReport, fields?: readonly string[]): object {
  const { by, period, calendar, sandbox, skipped, sumsOnly, prices } = report;
  return {
    v: REPORT_VERSION,
    by,
    since: new Date(period.since).toISOString(),
    until: period.until === null ? null : new Date(period.until).toISOString(),
    time_zone: calendar.zone,
    prices: { source: prices.table.source, as_of: prices.table.asOf },
    ...toSums(by, report, fields),
    sandbox: toSums(by, sandbox, fields),
    unreadable_lines: skipped.count,
    sums_only: sumsOnly === null ? null : { first: sumsOnly.first, last: sumsOnly.last },
  };
}

/** Each row has its names by their groupings. */
function toSums(by: readonly Grouping[], { rows, total }: Sums, asked?: readonly string[]): object {
  const toAsked = asked === undefined ? toFields : fieldPicker(asked);
  const toRow = (row: ReportRow) => {
    const { names } = row;
    return Object.assign(
      Object.fromEntries(by.map((grouping, at) => [grouping, names[at] ?? null])),
      toAsked(row),
    );
  };
  return { rows: new LongList(rows, toRow), total: toAsked(total) };
}

/** Returns the fields of sums: counts by their names in the ledger, and money as decimal text. */
export function toFields({ sums, cost, missed = null }: SummedFields): object {
  return Object.assign(toCounts(sums), toCosts(cost, missed), toTimes(sums));
}

/** What the fields of a row are made of. */
type SummedFields = Pick<ReportRow, "sums" | "cost" | "missed">;

/** Returns what reads some of the fields. Of a row, it reads only what they need. */
function fieldPicker(asked: readonly string[]): (row: SummedFields) => object {
  const [counts, costs, times] = [COUNT_FIELDS, COST_FIELDS, TIME_FIELDS].map((fields) =>
    fields.filter((field) => asked.includes(field)),
  );
  return (row) => {
    const picked: Partial<Record<ReportField, unknown>> = {};
    const pick = (fields: readonly ReportField[] = [], read: () => typeof picked) => {
      if (fields.length === 0) return;
      const all = read();
      for (const field of fields) picked[field] = all[field];
    };
    pick(counts, () => toCounts(row.sums));
    pick(costs, () => toCosts(row.cost, row.missed ?? null));
    pick(times, () => toTimes(row.sums));
    return picked;
  };
}

/** Written out, as the costs are, because any loop over names takes longer than the rest of a row. */
function toCounts(sums: Tally): Record<(typeof COUNT_FIELDS)[number], number | null> {
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
    failed_midway: sums.failed_midway,
    plan_requests: sums.plan_requests,
    extra_requests: sums.extra_requests,
    own_requests: sums.own_requests,
  };
}

function toCosts(
  cost: SpendingCost,
  missed: MissedCost | null,
): Record<(typeof COST_FIELDS)[number], unknown> {
  const known = knownAmount(cost);
  return {
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
  };
}

function toTimes({ ttft, speed }: Tally): Record<(typeof TIME_FIELDS)[number], object | null> {
  return { ttft_ms: toQuantiles(ttft), tokens_per_second: toQuantiles(speed) };
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
