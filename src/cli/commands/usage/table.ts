import { isPath } from "../../../core/ledger/grouping.ts";
import type { ReportRow, Sums } from "../../../core/ledger/report.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { displayPath, shorten } from "../../terminal/format.ts";
import { formatTable } from "../../terminal/table.ts";
import { COLUMNS, type Column } from "./columns.ts";

/** How a report is shown. */
export interface View {
  /** Characters in a line; Infinity where nothing limits them. */
  width: number;
  isTerminal: boolean;
  isColoured: boolean;
  /** True when all columns are asked for, however long the lines become. */
  isWide: boolean;
  /** The home directory, which is written as `~`. */
  home: string;
}

/** A table as text, and the headings of the columns for which the terminal is too narrow. */
interface RenderedTable {
  text: string;
  hidden: readonly string[];
}

/** Between two columns. */
const GAP = 2;

/** A name is never cut shorter than this. */
const LEAST_NAME = 8;

/** Renders rows as a table with the total last. `by` are the headings of their names. On a narrow terminal it has fewer columns, and then shorter names. */
export function renderTable(by: readonly string[], { rows, total }: Sums, view: View): RenderedTable {
  const names = rows.map((row) => by.map((grouping, at) => writeName(grouping, row.names[at], view)));
  names.push(["total", ...by.slice(1).map(() => "")]);
  const cells = COLUMNS.filter((column) => isShown(column, total, view)).map((column) => ({
    column,
    texts: [...rows, total].map((row) => column.cell(row, total)),
  }));
  const width = view.isWide ? Infinity : view.width;
  const kept = dropColumns(cells, by, names, width);
  const room = width - kept.reduce((sum, cell) => sum + GAP + widthOf(cell), 0);
  const shortened = shortenNames(by, names, room);
  const heads = kept.map(({ column: { head } }) => ({ head, align: "right" as const }));
  const hidden = cells.filter((cell) => !kept.includes(cell)).map(({ column }) => column.head);
  const text = formatTable(
    [...by, ...heads],
    shortened.map((words, at) => [...words, ...kept.map(({ texts }) => texts[at] ?? "")]),
    view.isColoured,
    width,
  );
  return { text, hidden };
}

function writeName(grouping: string, name: string | null | undefined, { home }: View): string {
  if (name === null || name === undefined) return `(no ${grouping})`;
  return toPrintable(isPath(grouping) ? displayPath(name, home) : name);
}

function isShown({ only, isUseful }: Column, total: ReportRow, { isTerminal, isWide }: View): boolean {
  if (only === "wide" && !isWide) return false;
  return (only !== "terminal" || isTerminal) && (isUseful?.(total) ?? true);
}

/** A column with its cells. */
interface Cells {
  column: Column;
  texts: readonly string[];
}

function widthOf({ column, texts }: Cells): number {
  return Math.max(column.head.length, ...texts.map((text) => text.length));
}

/** Leaves out columns until the table fits with names that are still legible. The cost always stays. */
function dropColumns(
  cells: readonly Cells[],
  by: readonly string[],
  names: readonly string[][],
  width: number,
): readonly Cells[] {
  const legible = nameWidths(by, names).reduce(
    (sum, name) => sum + Math.min(name, 2 * LEAST_NAME) + GAP,
    -GAP,
  );
  let kept = cells;
  while (legible + kept.reduce((sum, cell) => sum + GAP + widthOf(cell), 0) > width) {
    const last = Math.max(...kept.map(({ column }) => column.order));
    if (last === 0) break;
    kept = kept.filter(({ column }) => column.order !== last);
  }
  return kept;
}

function nameWidths(by: readonly string[], names: readonly string[][]): number[] {
  return by.map((grouping, at) =>
    Math.max(grouping.length, ...names.map((words) => (words[at] ?? "").length)),
  );
}

/** Shortens the longest names until all fit into the room. */
function shortenNames(by: readonly string[], names: readonly string[][], room: number): string[][] {
  const widths = nameWidths(by, names);
  const total = () => widths.reduce((sum, width) => sum + width + GAP, -GAP);
  while (total() > room && Math.max(...widths) > LEAST_NAME)
    widths[widths.indexOf(Math.max(...widths))] = Math.max(...widths) - 1;
  return names.map((words) =>
    words.map((word, at) => {
      const width = widths[at] ?? word.length;
      return isPath(by[at] ?? "") ? shortenPath(word, width) : shorten(word, width);
    }),
  );
}

/** Returns the last parts of a path, which tell more than its first ones: as many whole ones as fit. */
function shortenPath(path: string, width: number): string {
  if (path.length <= width) return path;
  const starts = [...path.matchAll(/\//g)].map(({ index }) => index);
  const fitting = starts.find((start) => path.length - start < width);
  if (fitting !== undefined) return `…${path.slice(fitting)}`;
  return `…${path.slice(starts.at(-1) ?? 0).slice(0, width - 2)}…`;
}
