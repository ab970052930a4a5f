import { toPrintable } from "../../../core/text/printable.ts";
import type { Calendar } from "../../../core/ledger/calendar.ts";
import type { Period } from "../../../core/ledger/period.ts";
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

type Sum = Exclude<keyof ReportRow, "names">;

/** In the order shown. Columns with `onlyIfAny` are shown only when their total is not 0. */
const COLUMNS: readonly { sum: Sum; head: string; onlyIfAny?: true }[] = [
  { sum: "requests", head: "requests" },
  { sum: "input_uncached", head: "uncached input" },
  { sum: "cache_read", head: "cache read" },
  { sum: "cache_write", head: "cache write" },
  { sum: "output", head: "output" },
  { sum: "reasoning", head: "reasoning" },
  { sum: "partial", head: "partial", onlyIfAny: true },
  { sum: "absent", head: "absent", onlyIfAny: true },
  { sum: "failed", head: "failed", onlyIfAny: true },
];

/** Renders the report as text: a title, a table with the total last, and the sandbox's requests in a table of their own. */
export function renderReport(report: LedgerReport, isColoured: boolean): string {
  const { by, period, calendar, sandbox } = report;
  const scope = `by ${by.join(" and ")}, ${period.title} (${calendar.zone})`;
  const parts = [
    report.rows.length > 0 && `Usage ${scope}\n\n${renderTable(by, report, isColoured)}`,
    sandbox.rows.length > 0 &&
      `Sandbox usage ${scope}. Its tokens are made up and cost nothing.\n\n${renderTable(by, sandbox, isColoured)}`,
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

function renderTable(by: readonly Grouping[], { rows, total }: Sums, isColoured: boolean): string {
  const columns = COLUMNS.filter(({ sum, onlyIfAny }) => onlyIfAny !== true || total[sum] !== 0);
  const rowOf = (names: string[], row: ReportRow) => [
    ...names,
    ...columns.map(({ sum }) => cellOf(row, sum)),
  ];
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
    total.partial > 0 &&
      `partial: ${pluralize(total.partial, "response")} ended early. The sums include what was reported until then, so they are lower bounds.`,
    total.absent > 0 &&
      `absent: ${pluralize(total.absent, "response")} reported no usage. The sums do not include them.`,
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
  const withNames = ({ names, ...sums }: ReportRow) => {
    return { ...Object.fromEntries(by.map((grouping, at) => [grouping, names[at] ?? null])), ...sums };
  };
  const { names: _, ...totals } = total;
  return { rows: rows.map(withNames), total: totals };
}

const CSV_SUMS: readonly Sum[] = [
  ...(["requests", "failed", "input_uncached", "cache_read", "cache_write", "output", "reasoning"] as const),
  ...(["reasoning_unknown", "partial", "absent", "maybe_unbilled"] as const),
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
