import { isPath } from "../../../core/ledger/grouping.ts";
import { readRow, type ReportRow, type Sums } from "../../../core/ledger/report.ts";
import { nameMiss } from "../../../core/misses/reasons.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { displayPath, pluralize } from "../../terminal/format.ts";
import {
  layOutTable,
  type Cell,
  type Column as TableColumn,
  type RenderedTable,
  type TableView,
} from "../../terminal/table.ts";
import { COLUMNS, type Column } from "./columns.ts";

/** How a report is shown. */
export interface View extends TableView {
  isTerminal: boolean;
  /** True when all columns are asked for. */
  isWide: boolean;
  /** The home directory, which is written as `~`. */
  home: string;
}

/**
 * Renders rows as a table with the total last. `by` are the headings of their names. `idle` says how many hours without a request come
 * before each row, and after the last one: they are a faint row.
 */
export function renderTable(
  by: readonly string[],
  { rows, total }: Sums,
  view: View,
  idle: readonly number[] = [],
): RenderedTable {
  const shown = COLUMNS.filter((column) => isShown(column, by, total, view));
  const columns = [
    ...by.map((head) => ({ head, align: "left", long: longOf(head) }) as const),
    ...shown.map(({ head, order }) => ({ head, align: "right", order }) as const),
  ];
  const cells: Cell[][] = [];
  for (const [at, row] of rows.entries()) {
    cells.push(...idleRow(idle[at] ?? 0));
    const read = readRow(row);
    const names = by.map((grouping, place) => writeName(grouping, read.names[place], view));
    cells.push([...names, ...shown.map((column) => column.cell(read, total))]);
  }
  const ofTotal = [
    "total",
    ...by.slice(1).map(() => ""),
    ...shown.map((column) => column.cell(total, total)),
  ];
  cells.push(...idleRow(idle[rows.length] ?? 0));
  cells.push(ofTotal.map((text) => ({ text, tone: "strong" as const })));
  return layOutTable(columns, cells, view);
}

/** The end of a path says more than its beginning, and a window is known by both of its ends. */
function longOf(grouping: string): NonNullable<TableColumn["long"]> {
  if (isPath(grouping)) return "path";
  return grouping === "window" ? "whole" : "cut";
}

function idleRow(hours: number): Cell[][] {
  return hours === 0 ? [] : [[{ text: pluralize(hours, "idle hour"), tone: "faint" }]];
}

function writeName(grouping: string, name: string | null | undefined, { home }: View): string {
  if (name === null || name === undefined) return `(no ${grouping})`;
  if (grouping === "miss") return nameMiss(toPrintable(name));
  return toPrintable(isPath(grouping) ? displayPath(name, home) : name);
}

function isShown(
  { only, isUseful, unlessBy }: Column,
  by: readonly string[],
  total: ReportRow,
  { isTerminal, isWide }: View,
): boolean {
  if (only === "wide" && !isWide) return false;
  if (unlessBy !== undefined && by.includes(unlessBy)) return false;
  return (only !== "terminal" || isTerminal) && (isUseful?.(total) ?? true);
}
