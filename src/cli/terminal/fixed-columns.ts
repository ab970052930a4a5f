import { cutInPieces, pad, shorten, shortenMiddle, widthOf } from "./width.ts";
import { wrapWords } from "./wrap.ts";

/** A column of rows that are printed one at a time, so that its width cannot depend on them. */
export interface FixedColumn<Row> {
  head: string;
  /** In characters. A last column to the left takes what is left. */
  width: number;
  /** How wide it becomes where there is room; by default it stays as wide. */
  most?: number;
  align: "left" | "right";
  /** A column of a higher number gives way first where the terminal is narrow; one of number 0 stays. */
  order: number;
  /** `middle`: a text that has no room keeps both of its ends; else its beginning. */
  long?: "middle";
  /** As much as a last column to the left should have before others become wider; {@link LAST} by default. */
  room?: number;
  text(row: Row): string;
}

/** Between two columns. */
const GAP = "  ";

/** Returns the columns for which there is room in lines of `width` characters: those of the highest order give way first. */
export function fitColumns<C extends Pick<FixedColumn<never>, "width" | "order">>(
  columns: readonly C[],
  width: number,
): C[] {
  let kept = [...columns];
  const needed = () => kept.reduce((sum, column) => sum + spaceOf(column), -GAP.length);
  while (needed() > width) {
    const last = Math.max(...kept.map(({ order }) => order));
    if (last === 0) break;
    kept = kept.filter(({ order }) => order !== last);
  }
  return kept;
}

/** What a column takes with the gap before it: nothing if it has no width of its own. */
function spaceOf({ width }: Pick<FixedColumn<never>, "width">): number {
  return width === 0 ? 0 : width + GAP.length;
}

/**
 * Narrows what columns may become to what these rows need, so that no empty space parts their texts. A column keeps its least width, since
 * rows may follow that are longer.
 */
export function fitToRows<Row>(
  columns: readonly FixedColumn<Row>[],
  rows: readonly Row[],
): FixedColumn<Row>[] {
  if (rows.length === 0) return [...columns];
  return columns.map((column) => {
    const { most, width, head, text } = column;
    if (most === undefined) return column;
    const longest = Math.max(head.length, ...rows.map((row) => widthOf(text(row))));
    return { ...column, most: Math.max(width, Math.min(most, longest)) };
  });
}

/** What an explanation in the last column usually takes. */
const LAST = 46;

/** Returns the columns for which there is room, as {@link fitColumns} does, and makes those wider that may be, the first ones first. */
export function fillColumns<Row>(columns: readonly FixedColumn<Row>[], width: number): FixedColumn<Row>[] {
  const kept = fitColumns(columns, width);
  const needs = kept.map((column, at) =>
    at === kept.length - 1 && column.align === "left"
      ? Math.max(column.width, column.room ?? LAST)
      : column.width,
  );
  let spare = width - needs.reduce((sum, need) => sum + spaceOf({ width: need }), -GAP.length);
  return kept.map((column) => {
    const more = Math.max(0, Math.min(spare, (column.most ?? column.width) - column.width));
    spare -= more;
    return { ...column, width: column.width + more };
  });
}

/** Returns the line of the headings. */
export function headLine<Row>(columns: readonly FixedColumn<Row>[], width: number): string {
  return layOut(columns, width, ({ head }) => head);
}

/**
 * Returns the line of a row: no longer than `width`, without spaces at its end. A text of the last column to the left that has no room there
 * begins where cells before it are empty, if it fits.
 */
export function rowLine<Row>(columns: readonly FixedColumn<Row>[], width: number, row: Row): string {
  return hasRoomForLast(columns, width, row)
    ? layOut(columns, width, ({ text }) => text(row))
    : (fillEmptyCells(columns, width, row) ?? layOut(columns, width, ({ text }) => text(row)));
}

/**
 * Returns the lines of a row, none longer than `width`. A last column to the left that has no room in the row is whole below it, from the
 * second column on.
 */
export function rowLines<Row>(columns: readonly FixedColumn<Row>[], width: number, row: Row): string[] {
  if (hasRoomForLast(columns, width, row)) return [rowLine(columns, width, row)];
  const filled = fillEmptyCells(columns, width, row);
  if (filled !== null) return [filled];
  const last = columns.at(-1);
  const indent = (columns[0]?.width ?? 0) + GAP.length;
  const first = layOut(columns, width, (column) => (column === last ? "" : column.text(row)));
  const text = last?.text(row) ?? "";
  return [first, ...breakLine(text, width - indent).map((line) => " ".repeat(indent) + line)];
}

/** False where the text of a last column to the left is too long for what the others leave. */
function hasRoomForLast<Row>(columns: readonly FixedColumn<Row>[], width: number, row: Row): boolean {
  const [last, ...others] = columns.toReversed();
  const text = last?.align === "left" ? last.text(row) : "";
  const used = others.reduce((sum, column) => sum + column.width + GAP.length, 0);
  return text === "" || used + widthOf(text) <= width;
}

/** Returns the line of a row with the text of its last column in place of cells that are empty; null where it does not fit into them. */
function fillEmptyCells<Row>(columns: readonly FixedColumn<Row>[], width: number, row: Row): string | null {
  const cells = columns.slice(0, -1);
  const text = columns.at(-1)?.text(row) ?? "";
  const isEmpty = cells.map((column) => column.text(row) === "");
  // From the right, where reasons are looked for.
  for (const [from, column] of [...cells.entries()].toReversed()) {
    if (isEmpty[from] !== true || isEmpty[from - 1] === true) continue;
    const found = isEmpty.indexOf(false, from);
    const to = found === -1 ? cells.length : found;
    const run = cells.slice(from, to);
    const room =
      to === cells.length
        ? width - cells.slice(0, from).reduce((sum, one) => sum + one.width + GAP.length, 0)
        : run.reduce((sum, one) => sum + one.width + GAP.length, -GAP.length);
    if (widthOf(text) > room) continue;
    const said = { ...column, width: room, align: "left" as const, text: () => text };
    const line = [...cells.slice(0, from), said, ...cells.slice(to)];
    return layOut(line, width, (one) => one.text(row));
  }
  return null;
}

/** Breaks a text between words, and a word that is too long anywhere. */
function breakLine(text: string, width: number): string[] {
  const room = Math.max(1, width);
  return wrapWords(text, room)
    .split("\n")
    .flatMap((line) => cutInPieces(line, room));
}

function layOut<Row>(
  columns: readonly FixedColumn<Row>[],
  width: number,
  textOf: (column: FixedColumn<Row>) => string,
): string {
  const cells = columns.map((column, at) => {
    if (at === columns.length - 1 && column.align === "left") return textOf(column);
    const cut = column.long === "middle" ? shortenMiddle : shorten;
    const text = cut(textOf(column), column.width);
    return pad(text, column.width, column.align);
  });
  return shorten(cells.join(GAP).trimEnd(), width);
}
