import { fitColumns } from "./fixed-columns.ts";
import { PackedRows, type Cell } from "./packed-rows.ts";
import { inTone, type Tone } from "./styles.ts";
import { endOf, pad, shorten, shortenMiddle, widthOf } from "./width.ts";
import { wrapAdvice, wrapWords } from "./wrap.ts";

export type { Cell };

/** A column of a text table. */
export interface Column {
  head: string;
  align: "left" | "right";
  /** A column of a higher number gives way first where the terminal is narrow; one of number 0, the usual one, stays. */
  order?: number;
  /**
   * What becomes of a text that has no room. Usually its words go on below; else its end is cut, its middle, the beginning of a path, or
   * nothing. In a column of paths, the end of what is no path is cut.
   */
  long?: "cut" | "middle" | "path" | "whole";
  /** Columns give way before this one is narrower, in characters; usually {@link LEGIBLE_NAME}. */
  legible?: number;
  /** What a column and its neighbours are about, for a line above the headings. A wide table keeps them together where they fit. */
  group?: string;
}

/** How a table is shown. */
export interface TableView {
  /** Characters in a line; Infinity where nothing limits them. */
  width: number;
  isColoured: boolean;
  /** True where no column may give way: those that have no room follow in further tables, each with the names of the rows. */
  isWide?: boolean;
  /** True where the cells say themselves what they are. */
  isHeadless?: boolean;
  /** How far to the right begins what is said below a row; usually 2. */
  indent?: number;
}

/** What is said below each row, a cell a line. Words that have no room go on below, and a command stays whole. */
type Below = readonly (readonly Cell[])[];

/** A table as text, and the headings of the columns that gave way. */
export interface RenderedTable {
  text: string;
  hidden: readonly string[];
  /** The tables of which the text consists: several where a wide one has no room. */
  pages: readonly string[];
  /** How many lines at the beginning of a page are headings. */
  headLines: number;
}

const GAP = 2;
const BETWEEN = " ".repeat(GAP);
const USUAL_INDENT = 2;

/** A name is never cut shorter than this. */
const LEAST_NAME = 8;
/** Columns give way before a name is shorter than this, or lines of prose. */
const LEGIBLE_NAME = 16;
const LEGIBLE_PROSE = 24;

/** So many lines are joined at once: to join those of a year takes their memory a second time. */
const LINES_AT_ONCE = 512;

/** A column with its place in the rows, and its widths. */
interface Measured {
  column: Column;
  at: number;
  order: number;
  /** As far as it may be narrowed before a column gives way. */
  width: number;
  /** What all of its cells take. */
  full: number;
  least: number;
}

/**
 * Formats rows as a text table with a heading line, in bold when coloured. A string in `columns` is the heading of a left-aligned column.
 * No line is wider than the terminal: columns give way by their order, then long texts are wrapped or cut, and at last each row becomes
 * a list of its cells. A pipe has no width, so there everything is whole.
 */
export function formatTable(
  columns: readonly (Column | string)[],
  rows: readonly (readonly Cell[])[],
  isColoured = false,
  width = process.stdout.columns || Infinity,
): string {
  const all = columns.map((column) =>
    typeof column === "string" ? ({ head: column, align: "left" } as const) : column,
  );
  return layOutTable(all, rows, { width, isColoured }).text;
}

/** Formats as {@link formatTable} does, and says which columns gave way. */
export function layOutTable(
  columns: readonly Column[],
  rows: Iterable<readonly Cell[]>,
  view: TableView,
  below: Below = [],
): RenderedTable {
  const packed = new PackedRows();
  const sizes = columns.map((column) => new ColumnSize(column));
  for (const row of rows) {
    packed.add(row);
    for (let at = 0; at < sizes.length; at += 1) sizes[at]?.add(textOf(row[at] ?? ""));
  }
  const all = columns.map((column, at) => measure(column, at, sizes[at]));
  const headLines = view.isHeadless === true ? 0 : isGrouped(all) ? 2 : 1;
  if (view.isWide === true) {
    const pages = paginate(all, view.width).map((page) => draw(page, packed, view));
    return { text: pages.join("\n\n"), hidden: [], pages, headLines };
  }
  const kept = fitColumns(all, view.width);
  const hidden = all.filter((one) => !kept.includes(one)).map(({ column: { head } }) => head);
  const text = draw(kept, packed, view, below);
  return { text, hidden, pages: [text], headLines };
}

function isGrouped(columns: readonly Measured[]): boolean {
  return columns.some(({ column }) => column.group !== undefined);
}

/** How wide the cells of a column are. */
class ColumnSize {
  readonly #isProse: boolean;
  full: number;
  /** The longest word, where words go on below. */
  word = 0;

  constructor({ head, align, long }: Column) {
    this.full = widthOf(head);
    this.#isProse = align === "left" && long === undefined;
  }

  add(text: string): void {
    this.full = Math.max(this.full, widthOf(text));
    if (this.#isProse) for (const word of text.split(/\s+/)) this.word = Math.max(this.word, widthOf(word));
  }
}

function measure(column: Column, at: number, { full, word } = new ColumnSize(column)): Measured {
  const { head, align, order = 0, long, legible = LEGIBLE_NAME } = column;
  const atLeast = (comfortable: number, least: number) => ({
    width: Math.min(full, Math.max(head.length, comfortable)),
    least: Math.min(full, Math.max(head.length, least)),
  });
  const widths =
    align === "right" || long === "whole"
      ? { width: full, least: full }
      : long === undefined
        ? atLeast(Math.max(word, LEGIBLE_PROSE), word)
        : atLeast(legible, LEAST_NAME);
  return { column, at, order, full, ...widths };
}

/**
 * Divides columns into tables that fit. Each begins with the columns of names: those to the left before the first to the right. A group
 * that has no room beside the ones before it begins a table, if it fits into one.
 */
function paginate(all: readonly Measured[], width: number): Measured[][] {
  const first = all.findIndex(({ column }) => column.align === "right");
  const names = all.slice(0, first === -1 ? all.length : first);
  const pages: Measured[][] = [];
  const place = (columns: readonly Measured[]) => {
    const page = [...(pages.at(-1) ?? names), ...columns];
    if (pages.length > 0 && sumOf(page, "width") <= width) pages[pages.length - 1] = page;
    else pages.push([...names, ...columns]);
  };
  for (const group of groupsOf(all.slice(names.length)))
    if (sumOf([...names, ...group], "width") <= width) place(group);
    else for (const one of group) place([one]);
  return pages.length === 0 ? [names] : pages;
}

/** Returns the neighbours that are about the same. A column without a group stands alone. */
function groupsOf(columns: readonly Measured[]): Measured[][] {
  const groups: Measured[][] = [];
  for (const one of columns) {
    const last = groups.at(-1);
    const { group } = one.column;
    if (group !== undefined && last?.[0]?.column.group === group) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

function sumOf(columns: readonly Measured[], which: "width" | "full" | "least"): number {
  return columns.reduce((sum, column) => sum + column[which] + GAP, -GAP);
}

function draw(columns: readonly Measured[], rows: PackedRows, view: TableView, below: Below = []): string {
  const { width, isColoured } = view;
  const heads = columns.map(({ column: { head } }) => head);
  const cellsAt = (row: number) => {
    const cells = rows.at(row);
    return columns.map(({ at }) => cells[at] ?? "");
  };
  const saidBelow = (row: number) => (below[row] ?? []).flatMap((cell) => drawBelow(cell, view));
  if (sumOf(columns, "least") > width) {
    const all = Array.from({ length: rows.length }, (_, row) => cellsAt(row));
    return formatLists(heads, all, view)
      .flatMap((list, row) => [list, ...saidBelow(row)])
      .join("\n");
  }
  const widths = narrow(columns, width);
  const bold = heads.map((text) => ({ text, tone: "strong" as const }));
  const pieces: string[] = [];
  let lines = view.isHeadless === true ? [] : [drawLine(columns, widths, bold, isColoured)];
  if (view.isHeadless !== true && isGrouped(columns))
    lines.unshift(inTone(drawGroups(columns, widths), "faint", isColoured));
  for (let row = 0; row < rows.length; row += 1) {
    lines.push(drawLine(columns, widths, cellsAt(row), isColoured), ...saidBelow(row));
    if (lines.length < LINES_AT_ONCE) continue;
    pieces.push(lines.join("\n"));
    lines = [];
  }
  return (lines.length > 0 ? [...pieces, lines.join("\n")] : pieces).join("\n");
}

function drawBelow(cell: Cell, { width, isColoured, indent = USUAL_INDENT }: TableView): string[] {
  const lines = wrapAdvice(textOf(cell), width - indent);
  return lines.map((line) => " ".repeat(indent) + inTone(line, toneOf(cell), isColoured));
}

/** Draws above the headings what they are about, each with a rule as long as its columns. */
function drawGroups(columns: readonly Measured[], widths: readonly number[]): string {
  const width = new Map(columns.map((one, at) => [one, widths[at] ?? 0]));
  const spans = groupsOf(columns).map((group) => {
    const room = group.reduce((sum, one) => sum + (width.get(one) ?? 0) + GAP, -GAP);
    const label = group[0]?.column.group ?? "";
    if (label === "") return " ".repeat(room);
    const rule = "─".repeat(Math.max(0, room - label.length - 1));
    return pad(shorten(`${label} ${rule}`, room), room, "left");
  });
  return spans.join(BETWEEN).trimEnd();
}

/** Draws a row: as many lines as its longest cell has, no borders, and no spaces at their ends. */
function drawLine(
  columns: readonly Measured[],
  widths: readonly number[],
  cells: readonly Cell[],
  isColoured: boolean,
): string {
  const fitting = cells.map((cell, at) => {
    const [one, width = Infinity] = [columns[at], widths[at]];
    // Only a column that was narrowed has texts without room.
    return one === undefined || width >= one.full ? textOf(cell) : fit(textOf(cell), one.column.long, width);
  });
  // Nearly all rows of a long table are one line.
  if (!fitting.some((text) => text.includes("\n")))
    return joinCells(columns, widths, cells, fitting, isColoured);
  const lines = fitting.map((text) => text.split("\n"));
  const height = Math.max(...lines.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) => {
    const texts = lines.map((line) => line[row] ?? "");
    return joinCells(columns, widths, cells, texts, isColoured);
  }).join("\n");
}

/** Returns a line of texts that have room. @param cells how each stands out */
function joinCells(
  columns: readonly Measured[],
  widths: readonly number[],
  cells: readonly Cell[],
  texts: readonly string[],
  isColoured: boolean,
): string {
  const last = texts.findLastIndex((text) => text !== "");
  let line = "";
  for (let at = 0; at <= last; at += 1) {
    const text = texts[at] ?? "";
    const align = columns[at]?.column.align ?? "left";
    const spaces = at === last && align === "left" ? 0 : (widths[at] ?? 0) - widthOf(text);
    const padding = spaces > 0 ? " ".repeat(spaces) : "";
    const shown = inTone(text, toneOf(cells[at] ?? ""), isColoured);
    if (at > 0) line += BETWEEN;
    line += align === "left" ? shown + padding : padding + shown;
  }
  return line.trimEnd();
}

/** Returns widths with which all columns fit: the widest ones are narrowed first. */
function narrow(columns: readonly Measured[], width: number): number[] {
  const widths = columns.map(({ full }) => full);
  let excess = sumOf(columns, "full") - width;
  for (; excess > 0; excess -= 1) {
    const spare = columns.map(({ least }, at) => ((widths[at] ?? 0) > least ? (widths[at] ?? 0) : 0));
    const widest = spare.indexOf(Math.max(...spare));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function fit(text: string, long: Column["long"], width: number): string {
  if (widthOf(text) <= width) return text;
  if (long === undefined) return wrapWords(text, width);
  if (long === "path" && text.includes("/")) return shortenPath(text, width);
  return long === "middle" ? shortenMiddle(text, width) : shorten(text, width);
}

/** Returns the last parts of a path, which tell more than its first ones: as many whole ones as fit, or the end of the last one. */
function shortenPath(path: string, width: number): string {
  const starts = [...path.matchAll(/\//g)].map(({ index }) => index);
  const fitting = starts.find((start) => path.length - start < width);
  if (fitting !== undefined) return `…${path.slice(fitting)}`;
  return `…${endOf(path, width - 1)}`;
}

/** Each line has its own style, because a line of a table has cells of several. */
function styled(text: string, tone: Tone, isColoured: boolean): string {
  return text
    .split("\n")
    .map((line) => inTone(line, tone, isColoured))
    .join("\n");
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}

function toneOf(cell: Cell): Tone {
  return typeof cell === "string" ? "plain" : cell.tone;
}

/** The first cell heads the list of the others. Empty cells are left out, and long ones go on under their beginning. */
function formatLists(
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
  { width, isColoured }: TableView,
): string[] {
  const padding = Math.max(0, ...heads.slice(1).map((head) => head.length));
  const indent = padding + 4;
  const wrap = (cell: string) =>
    widthOf(cell) <= width - indent
      ? cell
      : wrapWords(cell, width - indent).replaceAll("\n", `\n${" ".repeat(indent)}`);
  return rows.map(([first = "", ...cells]) => {
    const named = cells.map((cell, index) => [heads[index + 1] ?? "", cell] as const);
    const lines = named
      .filter(([, cell]) => textOf(cell) !== "")
      .map(
        ([head, cell]) =>
          `  ${pad(head, padding, "left")}  ${styled(wrap(textOf(cell)), toneOf(cell), isColoured)}`,
      );
    const name = textOf(first);
    const heading = widthOf(name) <= width ? name : wrapWords(name, width);
    return [styled(heading, toneOf(first), isColoured), ...lines].join("\n");
  });
}
