import { toPrintable } from "../../../core/text/printable.ts";
import type { ReportRow, UsageReport } from "../../../core/ledger/report.ts";
import type { UnreadableLine } from "../../../adapters/ledger-file.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { formatTable } from "../../terminal/table.ts";

/** A usage report, where its records come from, and what was noticed while reading them. */
export interface LedgerReport extends UsageReport {
  /** Start of the period; ISO 8601, UTC. */
  since: string;
  directory: string;
  /** True when the configuration asks for projects to be recorded. */
  isProjectRecorded: boolean;
  /** Requests that the built-in sandbox responded to. */
  sandboxRequests: number;
  /** Lines that are not records. */
  unreadableLines: number;
  firstUnreadable: UnreadableLine | null;
}

type Sum = Exclude<keyof ReportRow, "name">;

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

/** Renders the report as a text table, with the total last. */
export function renderTable(report: LedgerReport, isColoured: boolean): string {
  const columns = COLUMNS.filter(({ sum, onlyIfAny }) => onlyIfAny !== true || report.total[sum] !== 0);
  const rowOf = (name: string, row: ReportRow) => [name, ...columns.map(({ sum }) => cellOf(row, sum))];
  const rows = report.rows.map((row) => rowOf(toPrintable(row.name ?? "(not said)"), row));
  const heads = columns.map(({ head }) => ({ head, align: "right" as const }));
  return formatTable([report.by, ...heads], [...rows, rowOf("total", report.total)], isColoured);
}

/** `≥` marks a sum of which a part is unknown, `?` a sum that is entirely unknown. */
function cellOf(row: ReportRow, sum: Sum): string {
  const value = row[sum];
  if (value === null) return row.reasoning_unknown > 0 ? "?" : "0";
  const isLowerBound = sum === "reasoning" && row.reasoning_unknown > 0;
  return `${isLowerBound ? "≥" : ""}${formatNumber(value)}`;
}

const PROJECT_NOT_RECORDED =
  'project: no request says where it came from; they will with "ledger": { "project": true } in the configuration and, for a service, after tollkeeper service install';

const PROJECT_NOT_FOUND =
  "project: of no request the process was found in time; a service in its sandbox finds none, and is taken out of it by tollkeeper service install";

/** Returns a sentence for each thing the numbers leave open; none when everything is known. */
export function remarksOn(report: LedgerReport): string[] {
  const { by, rows, total, isProjectRecorded, sandboxRequests, unreadableLines, firstUnreadable } = report;
  const remarks = [
    total.partial > 0 &&
      `partial: ${pluralize(total.partial, "request")} broke off; what they spent is in the sums as a lower bound`,
    total.absent > 0 &&
      `absent: ${pluralize(total.absent, "request")} came back without usage; what they spent is unknown and not in the sums`,
    total.failed > 0 &&
      `failed: ${pluralize(total.failed, "request")} beside these, refused or answered with an error; nothing was spent`,
    total.reasoning_unknown > 0 &&
      `reasoning: ${pluralize(total.reasoning_unknown, "answer")} did not say how much of the output was reasoning (≥, ?)`,
    total.maybe_unbilled > 0 &&
      `maybe unbilled: ${pluralize(total.maybe_unbilled, "token")} of attempts that another model replaced are not in the sums; the service bills them in some cases only`,
    by === "project" &&
      rows.length > 0 &&
      rows.every(({ name }) => name === null) &&
      (isProjectRecorded ? PROJECT_NOT_FOUND : PROJECT_NOT_RECORDED),
    sandboxRequests > 0 &&
      `sandbox: ${pluralize(sandboxRequests, "request")} went to the built-in sandbox; their tokens are made up, and cost nothing`,
    firstUnreadable !== null &&
      `unreadable: ${pluralize(unreadableLines, "line")} of the ledger, the first in ${firstUnreadable.file}, line ${firstUnreadable.line}`,
  ];
  return remarks.filter((remark) => remark !== false);
}

/** Renders the report as one JSON document, with the ledger's field names. Unknown sums are null. */
export function renderJson({ by, since, rows, total, ...report }: LedgerReport): string {
  const { name: _, ...sums } = total;
  const notes = { sandboxed: report.sandboxRequests, unreadable_lines: report.unreadableLines };
  return JSON.stringify({ by, since, rows, total: sums, ...notes }, null, 2);
}

const CSV_SUMS: readonly Sum[] = [
  ...(["requests", "failed", "input_uncached", "cache_read", "cache_write", "output", "reasoning"] as const),
  ...(["reasoning_unknown", "partial", "absent", "maybe_unbilled"] as const),
];

/** Renders header and rows as CSV lines (RFC 4180) without line ends. There is no total, which spreadsheets would add in. */
export function renderCsv({ by, rows }: LedgerReport): string[] {
  const lines = rows.map((row) => [row.name ?? "", ...CSV_SUMS.map((sum) => String(row[sum] ?? ""))]);
  return [[by, ...CSV_SUMS], ...lines].map((cells) => cells.map(csvCell).join(","));
}

/**
 * Escapes a cell. A leading apostrophe keeps spreadsheets from evaluating a name as a formula (OWASP, "CSV Injection");
 * quotes keep those that separate by semicolons from finding a second cell in it.
 */
function csvCell(text: string): string {
  const escaped = toPrintable(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  return /[",;]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}
