import { isPath } from "../../../core/ledger/grouping.ts";
import type { ReportRow, Sums } from "../../../core/ledger/report.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { displayPath } from "../../terminal/format.ts";
import { layOutTable, type RenderedTable, type TableView } from "../../terminal/table.ts";
import { COLUMNS, type Column } from "./columns.ts";

/** How a report is shown. */
export interface View extends TableView {
  isTerminal: boolean;
  /** True when all columns are asked for. */
  isWide: boolean;
  /** The home directory, which is written as `~`. */
  home: string;
}

/** Renders rows as a table with the total last. `by` are the headings of their names. */
export function renderTable(by: readonly string[], { rows, total }: Sums, view: View): RenderedTable {
  const shown = COLUMNS.filter((column) => isShown(column, total, view));
  const columns = [
    ...by.map((head) => ({ head, align: "left", long: isPath(head) ? "path" : "cut" }) as const),
    ...shown.map(({ head, order }) => ({ head, align: "right", order }) as const),
  ];
  const names = rows.map((row) => by.map((grouping, at) => writeName(grouping, row.names[at], view)));
  const ofTotal = ["total", ...by.slice(1).map(() => "")];
  const lines = [...rows, total].map((row, at) => [
    ...(names[at] ?? ofTotal),
    ...shown.map((column) => column.cell(row, total)),
  ]);
  const last = lines.length - 1;
  const cells = lines.map((line, at) =>
    at < last ? line : line.map((text) => ({ text, tone: "strong" as const })),
  );
  return layOutTable(columns, cells, view);
}

function writeName(grouping: string, name: string | null | undefined, { home }: View): string {
  if (name === null || name === undefined) return `(no ${grouping})`;
  return toPrintable(isPath(grouping) ? displayPath(name, home) : name);
}

function isShown({ only, isUseful }: Column, total: ReportRow, { isTerminal, isWide }: View): boolean {
  if (only === "wide" && !isWide) return false;
  return (only !== "terminal" || isTerminal) && (isUseful?.(total) ?? true);
}
