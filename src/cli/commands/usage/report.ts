import { toPrintable } from "../../../core/text/printable.ts";
import type { Calendar } from "../../../core/ledger/calendar.ts";
import type { Period } from "../../../core/ledger/period.ts";
import type { Distribution } from "../../../core/ledger/distribution.ts";
import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { ReportRow, Sums, UsageReport } from "../../../core/ledger/report.ts";
import type { UnaskingTool } from "../../../core/ledger/streams-without-usage.ts";
import { usageRemedy } from "../../../tools/usage-remedy.ts";
import type { UnreadableLine } from "../../../adapters/ledger-file.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { formatTable } from "../../terminal/table.ts";

/** A usage report, where its records come from, and what was noticed while reading them. */
export interface LedgerReport extends UsageReport {
  period: Period;
  calendar: Calendar;
  directory: string;
  /** True when the configuration asks for projects to be recorded. */
  isProjectRecorded: boolean;
  unaskingTools: readonly UnaskingTool[];
  /** Lines that are not records. */
  unreadableLines: number;
  firstUnreadable: UnreadableLine | null;
}

type Sum = Exclude<keyof ReportRow, "names" | "ttft" | "speed">;

/** A column: its heading, and what a row has there. */
interface Column {
  head: string;
  cell(row: ReportRow): string;
  /** Shown only if this is not 0 in the total. */
  onlyIfAny?: Sum;
  onlyWide?: true;
}

const sumColumn = (sum: Sum, head: string): Column => ({ head, cell: (row) => cellOf(row, sum) });

/** In the order shown. */
const COLUMNS: readonly Column[] = [
  sumColumn("requests", "requests"),
  sumColumn("input_uncached", "uncached input"),
  sumColumn("cache_read", "cache read"),
  sumColumn("cache_write", "cache write"),
  { head: "cached", cell: cachedShare, onlyWide: true },
  sumColumn("output", "output"),
  sumColumn("reasoning", "reasoning"),
  { ...sumColumn("partial", "partial"), onlyIfAny: "partial" },
  { ...sumColumn("absent", "absent"), onlyIfAny: "absent" },
  { ...sumColumn("failed", "failed"), onlyIfAny: "failed" },
  { ...sumColumn("cut", "cut"), onlyIfAny: "cut", onlyWide: true },
  { head: "first token p50", cell: ({ ttft }) => inMilliseconds(ttft.quantile(0.5)), onlyWide: true },
  { head: "first token p95", cell: ({ ttft }) => inMilliseconds(ttft.quantile(0.95)), onlyWide: true },
  { head: "tokens/s p50", cell: ({ speed }) => rounded(speed.quantile(0.5)), onlyWide: true },
];

/** Renders the report as text: a title, a table with the total last, and the sandbox's requests in a table of their own. */
export function renderReport(report: LedgerReport, isWide: boolean, isColoured: boolean): string {
  const { by, period, calendar, sandbox } = report;
  const render = (sums: Sums) => renderTable(by, sums, isWide, isColoured);
  const scope = `by ${by.join(" and ")}, ${period.title} (${calendar.zone})`;
  const parts = [
    report.rows.length > 0 && `Usage ${scope}\n\n${render(report)}`,
    report.total.requests > 0 && describeCoverage(report.total),
    sandbox.rows.length > 0 &&
      `Sandbox usage ${scope}. Its tokens are made up and cost nothing.\n\n${render(sandbox)}`,
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

function renderTable(
  by: readonly Grouping[],
  { rows, total }: Sums,
  isWide: boolean,
  isColoured: boolean,
): string {
  const columns = COLUMNS.filter(
    ({ onlyIfAny, onlyWide }) =>
      (isWide || onlyWide !== true) && (onlyIfAny === undefined || total[onlyIfAny] !== 0),
  );
  const rowOf = (names: string[], row: ReportRow) => [...names, ...columns.map(({ cell }) => cell(row))];
  const cells = rows.map((row) =>
    rowOf(
      row.names.map((name) => toPrintable(name ?? "unknown")),
      row,
    ),
  );
  const heads = columns.map(({ head }) => ({ head, align: "right" as const }));
  const totals = rowOf(["total", ...by.slice(1).map(() => "")], total);
  return formatTable([...by, ...heads], [...cells, totals], isColoured);
}

/** The share of the input that was read from cache. */
function cachedShare({ input_uncached: uncached, cache_read: read, cache_write: write }: ReportRow): string {
  const input = uncached + read + write;
  return input === 0 ? "" : `${Math.round((100 * read) / input)}%`;
}

function inMilliseconds(value: number | null): string {
  return value === null ? "" : `${rounded(value)} ms`;
}

/** To three significant digits: a quantile is not exact. */
function rounded(value: number | null): string {
  return value === null ? "" : formatNumber(Number(value.toPrecision(3)));
}

/** `≥` marks a sum of which a part is unknown. */
function cellOf(row: ReportRow, sum: Sum): string {
  const value = row[sum];
  if (value === null) return row.reasoning_unknown > 0 ? "unknown" : "0";
  const isLowerBound = sum === "reasoning" && row.reasoning_unknown > 0;
  return `${isLowerBound ? "≥" : ""}${formatNumber(value)}`;
}

const PROJECT_NOT_RECORDED =
  "Projects and their branches are not recorded. To record them, type: tollkeeper config set ledger.project true; if tollkeeper runs as a service, then type: tollkeeper service install";

const PROJECT_NOT_FOUND =
  "No project could be determined, because the sandbox of the service hides other processes. To start the service without it, type: tollkeeper service install";

/** Returns a sentence for each thing that makes the numbers differ from what was spent; none when everything is known. */
export function remarksOn(report: LedgerReport): string[] {
  const { by, rows, total, isProjectRecorded, unaskingTools, unreadableLines, firstUnreadable } = report;
  const remarks = [
    ...unaskingTools.map(({ tool, userAgent, streams }) => {
      const what = `${tool}: ${pluralize(streams, "stream")} of Chat Completions reported no usage`;
      return `${what}. Remedy: ${usageRemedy(tool, userAgent)}.`;
    }),
    total.maybe_unbilled > 0 &&
      `The sums do not include ${pluralize(total.maybe_unbilled, "token")} of attempts that another model replaced. The service bills these only in some cases.`,
    by.some((one, at) => isProject(one) && rows.every(({ names }) => names[at] === null)) &&
      rows.length > 0 &&
      (isProjectRecorded ? PROJECT_NOT_FOUND : PROJECT_NOT_RECORDED),
    firstUnreadable !== null &&
      `The sums do not include ${pluralize(unreadableLines, "unreadable line")} of the ledger. The first is ${firstUnreadable.file}:${firstUnreadable.line}.`,
  ];
  return remarks.filter((remark) => remark !== false);
}

/** Says in a sentence how sure the sums are. */
export function describeCoverage({ requests, partial, absent }: ReportRow): string {
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

function be(count: number): string {
  return count === 1 ? "is" : "are";
}

function isProject(grouping: Grouping): boolean {
  return grouping === "project" || grouping === "branch";
}

/** Returns the report as a document for programs, with the ledger's field names. Unknown sums are null. */
export function toDocument(report: LedgerReport): object {
  const { by, period, calendar, sandbox, unreadableLines } = report;
  const since = new Date(period.since).toISOString();
  const document = {
    by,
    since,
    until: period.until === null ? null : new Date(period.until).toISOString(),
    time_zone: calendar.zone,
    ...toSums(by, report),
    sandbox: toSums(by, sandbox),
  };
  return { ...document, unreadable_lines: unreadableLines };
}

/** Each row has its names by their groupings. */
function toSums(by: readonly Grouping[], { rows, total }: Sums): object {
  const withNames = (row: ReportRow) => {
    return {
      ...Object.fromEntries(by.map((grouping, at) => [grouping, row.names[at] ?? null])),
      ...toFields(row),
    };
  };
  return { rows: rows.map(withNames), total: toFields(total) };
}

function toFields(row: ReportRow): object {
  const { names: _, ttft, speed, ...sums } = row;
  return { ...sums, ttft_ms: toQuantiles(ttft), tokens_per_second: toQuantiles(speed) };
}

/** null without any. */
function toQuantiles(distribution: Distribution): object | null {
  const [median, p95] = [0.5, 0.95].map((share) => distribution.quantile(share));
  return typeof median === "number" && typeof p95 === "number"
    ? { median: Number(median.toPrecision(3)), p95: Number(p95.toPrecision(3)) }
    : null;
}

const CSV_SUMS: readonly Sum[] = [
  ...(["requests", "failed", "input_uncached", "cache_read", "cache_write", "output", "reasoning"] as const),
  ...(["reasoning_unknown", "partial", "absent", "maybe_unbilled", "cut"] as const),
];

/** Renders header and rows as CSV lines (RFC 4180) without line ends. There is no total, which spreadsheets would add in. */
export function renderCsv({ by, rows }: LedgerReport): string[] {
  const lines = rows.map((row) => [
    ...row.names.map((name) => name ?? ""),
    ...CSV_SUMS.map((sum) => String(row[sum] ?? "")),
  ]);
  return [[...by, ...CSV_SUMS], ...lines].map((cells) => cells.map(csvCell).join(","));
}

/**
 * Escapes a cell. A leading apostrophe keeps spreadsheets from evaluating a name as a formula (OWASP, "CSV Injection");
 * quotes keep those that separate by semicolons from finding a second cell in it.
 */
function csvCell(text: string): string {
  const escaped = toPrintable(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  return /[",;]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}
