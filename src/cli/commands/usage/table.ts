import { isPath } from "../../../core/ledger/grouping.ts";
import { describeOutcomeWord } from "../../../core/ledger/outcome-words.ts";
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
import { COLUMNS, groupOf, inGroups, type Column } from "./columns.ts";

/** How a report is shown. */
export interface View extends TableView {
  isTerminal: boolean;
  /** True when all columns are asked for. */
  isWide: boolean;
  /** The home directory, which is written as `~`. */
  home: string;
  /** The day that the title names, which hours do not repeat. */
  day?: string;
}

/** How the rows of a table stand together. */
interface Arrangement {
  /** How many hours without a request come before each row, and after the last one: they are a faint row. */
  idle?: readonly number[];
  /** The sum of the rows that follow and have the same first name, by the place of the first of them. */
  headings?: ReadonlyMap<number, ReportRow>;
}

/** A table, and whether it is known to have more columns with `--wide`. */
interface RenderedUsage extends RenderedTable {
  hasMore: boolean;
}

/** Renders rows as a table with the total last. `by` are the headings of their names. */
export function renderTable(
  by: readonly string[],
  { rows, total }: Sums,
  view: View,
  { idle = [], headings = new Map() }: Arrangement = {},
): RenderedUsage {
  const useful = COLUMNS.filter((column) => isShown(column, by, total, view));
  const shown = view.isWide ? inGroups(useful) : useful;
  const columns = [
    ...by.map((head) => ({ head, align: "left", ...shapeOf(head) }) as const),
    ...shown.map((column): TableColumn => {
      const { head, order } = column;
      const given = {
        head,
        align: "right",
        order: typeof order === "number" ? order : order(total),
      } as const;
      return view.isWide && view.isTerminal ? { ...given, group: groupOf(column) } : given;
    }),
  ];
  const cellsOf = (row: ReportRow) => shown.map((column) => column.cell(row, total));
  const table = layOutTable(columns, cellsOfRows(), view);
  const isLeftOut = (column: Column) =>
    column.readsTimes !== true &&
    !shown.includes(column) &&
    isShown(column, by, total, { ...view, isWide: true });
  return { ...table, hasMore: table.hidden.length > 0 || COLUMNS.some(isLeftOut) };

  // Row by row: a year has a hundred thousand.
  function* cellsOfRows(): Generator<Cell[]> {
    let headed: string | null | undefined;
    for (const [at, row] of rows.entries()) {
      yield* idleRow(idle[at] ?? 0);
      const read = readRow(row);
      const names = by.map((grouping, place) => writeName(grouping, read.names[place], view));
      const heading = headings.get(at);
      if (heading !== undefined) {
        headed = read.names[0];
        yield inStrong([names[0] ?? "", ...by.slice(1).map(() => ""), ...cellsOf(heading)]);
      } else if (read.names[0] !== headed) headed = undefined;
      if (headed !== undefined) names[0] = "";
      yield [...names, ...cellsOf(read)];
    }
    yield* idleRow(idle[rows.length] ?? 0);
    yield inStrong(["total", ...by.slice(1).map(() => ""), ...cellsOf(total)]);
  }
}

function inStrong(texts: readonly string[]): Cell[] {
  return texts.map((text) => ({ text, tone: "strong" as const }));
}

/** Shorter names of these say too little, so columns give way first. */
const LEGIBLE = 26;

/** The end of a path says more than its beginning, both ends of a model differ, and a window and a session are known by all of it. */
function shapeOf(grouping: string): Pick<TableColumn, "long" | "legible"> {
  if (isPath(grouping)) return { long: "path", legible: LEGIBLE };
  if (grouping === "model" || grouping === "branch") return { long: "middle", legible: LEGIBLE };
  return { long: ["window", "session", "last used"].includes(grouping) ? "whole" : "cut" };
}

function idleRow(hours: number): Cell[][] {
  return hours === 0 ? [] : [[{ text: pluralize(hours, "idle hour"), tone: "faint" }]];
}

function writeName(grouping: string, name: string | null | undefined, { home, day }: View): string {
  if (name === null || name === undefined)
    return grouping === "window" ? "outside a window" : `(no ${grouping})`;
  if (grouping === "miss") return nameMiss(toPrintable(name));
  if (grouping === "outcome") return toPrintable(describeOutcomeWord(name));
  if (grouping === "hour" && day !== undefined && name.startsWith(`${day} `))
    return name.slice(day.length + 1);
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
