import { printable } from "../../../core/text/printable.ts";
import type { Report, Row } from "../../../core/ledger/report.ts";
import type { UnreadableLine } from "../../../adapters/ledger-file/reader.ts";
import { countOf, NUMBERS } from "../../terminal/count-of.ts";
import { layOut } from "../../terminal/table.ts";

/** A report and where it comes from. */
export interface UsageReport extends Report {
  /** Start of the period; ISO 8601, UTC. */
  since: string;
  directory: string;
  /** Are records to name projects, by the configuration of now? */
  isProjectAsked: boolean;
  /** Noticed on the way: requests that the built-in sandbox answered, and lines that are no records. */
  aside: { sandboxed: number; unreadable: number; firstUnreadable: UnreadableLine | null };
}

type Sum = Exclude<keyof Row, "name">;

/** In the order shown; those marked appear only where a row has something in them. */
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

/** The report as a table for people: one line per row, the total last. */
export function renderTable(report: UsageReport, isColoured: boolean): string {
  const columns = COLUMNS.filter(({ sum, onlyIfAny }) => onlyIfAny !== true || report.total[sum] !== 0);
  const rowOf = (name: string, row: Row) => [name, ...columns.map(({ sum }) => cellOf(row, sum))];
  const rows = report.rows.map((row) => rowOf(printable(row.name ?? "(not said)"), row));
  const heads = columns.map(({ head }) => ({ head, align: "right" as const }));
  return layOut(
    [{ head: report.by, align: "left" }, ...heads],
    [...rows, rowOf("total", report.total)],
    isColoured,
  );
}

/** `≥` marks a sum of which a part is unknown, `?` one that is unknown altogether. */
function cellOf(row: Row, sum: Sum): string {
  const value = row[sum];
  if (value === null) return row.reasoning_unknown > 0 ? "?" : "0";
  const isLowerBound = sum === "reasoning" && row.reasoning_unknown > 0;
  return `${isLowerBound ? "≥" : ""}${NUMBERS.format(value)}`;
}

const PROJECT_UNASKED =
  'project: no request says where it came from; they will with "ledger": { "project": true } in the configuration and, for a service, after tollkeeper service install';

const PROJECT_UNSEEN =
  "project: of no request the process was found in time; a service in its sandbox finds none, and is taken out of it by tollkeeper service install";

/** What must be said beside the numbers, a sentence each; none where all is known. */
export function remarksOn({ by, rows, total, aside, isProjectAsked }: UsageReport): string[] {
  const { sandboxed, unreadable, firstUnreadable } = aside;
  const remarks = [
    total.partial > 0 &&
      `partial: ${countOf(total.partial, "request")} broke off; what they spent is in the sums as a lower bound`,
    total.absent > 0 &&
      `absent: ${countOf(total.absent, "request")} came back without usage; what they spent is unknown and not in the sums`,
    total.failed > 0 &&
      `failed: ${countOf(total.failed, "request")} beside these, refused or answered with an error; nothing was spent`,
    total.reasoning_unknown > 0 &&
      `reasoning: ${countOf(total.reasoning_unknown, "answer")} did not say how much of the output was reasoning (≥, ?)`,
    total.maybe_unbilled > 0 &&
      `maybe unbilled: ${countOf(total.maybe_unbilled, "token")} of attempts that another model replaced are not in the sums; the service bills them in some cases only`,
    by === "project" &&
      rows.length > 0 &&
      rows.every(({ name }) => name === null) &&
      (isProjectAsked ? PROJECT_UNSEEN : PROJECT_UNASKED),
    sandboxed > 0 &&
      `sandbox: ${countOf(sandboxed, "request")} went to the built-in sandbox; their tokens are made up, and cost nothing`,
    firstUnreadable !== null &&
      `unreadable: ${countOf(unreadable, "line")} of the ledger, the first in ${firstUnreadable.file}, line ${firstUnreadable.line}`,
  ];
  return remarks.filter((remark) => remark !== false);
}

/** The report as one JSON document: the sums' names are the ledger's, unknown is null. */
export function renderJson({ by, since, rows, total, aside }: UsageReport): string {
  const { name: _, ...sums } = total;
  return JSON.stringify(
    { by, since, rows, total: sums, sandboxed: aside.sandboxed, unreadable_lines: aside.unreadable },
    null,
    2,
  );
}

const CSV_SUMS: readonly Sum[] = [
  ...(["requests", "failed", "input_uncached", "cache_read", "cache_write", "output", "reasoning"] as const),
  ...(["reasoning_unknown", "partial", "absent", "maybe_unbilled"] as const),
];

/** Header and rows as CSV lines (RFC 4180), without line ends and without a total: a spreadsheet would add it in. */
export function renderCsv({ by, rows }: UsageReport): string[] {
  const lines = rows.map((row) => [row.name ?? "", ...CSV_SUMS.map((sum) => String(row[sum] ?? ""))]);
  return [[by, ...CSV_SUMS], ...lines].map((cells) => cells.map(csvCell).join(","));
}

/**
 * A leading apostrophe keeps a spreadsheet from taking a name for a formula (OWASP, "CSV Injection"); quotes keep one
 * whose separator is the semicolon from finding another cell in it, with a formula of its own.
 */
function csvCell(text: string): string {
  const harmless = printable(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  return /[",;]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
