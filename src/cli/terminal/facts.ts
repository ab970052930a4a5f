import { toPrintable } from "../../core/text/printable.ts";
import { hasColours, printStyled } from "./console.ts";
import { labelledLine } from "./format.ts";
import { isCommand, wrapAdvice } from "./wrap.ts";
import { inTone, type Tone } from "./styles.ts";
import { layOutTable, type Cell, type Column } from "./table.ts";
import { widthOf } from "./width.ts";

/** A fact as a row of a table. Rows that follow each other and have the same columns are one table. */
export interface FactRow {
  columns: readonly Column[];
  cells: readonly Cell[];
  /** What is said below it, a cell a line. */
  below?: readonly Cell[];
}

/**
 * A line of a report: what it is about, what there is to say, and how that stands out. Without a label, it belongs to the line before. A
 * terminal shows the row instead of the text, and in a pipe each line has its label. `in row` stands for a line that the row before has.
 */
export type Fact = readonly [label: string, text: string, tone?: Tone, row?: FactRow | "in row"];

/**
 * Lays out facts, a line each. Where a text has no room, its words go on under its beginning, and a command that ends it has a line of its
 * own. Control characters are escaped.
 */
export function layOutFacts(facts: readonly Fact[], width: number, isColoured: boolean): string[] {
  const room = width - labelledLine("", "").length;
  const lines: string[] = [];
  for (let at = 0; at < facts.length;) {
    const count = width === Infinity ? 0 : countRows(facts, at);
    if (count > 0) lines.push(...layOutRows(facts.slice(at, at + count), room, isColoured));
    else lines.push(...layOutFact(facts[at] ?? ["", ""], room, isColoured));
    at += Math.max(1, count);
  }
  return lines;
}

function layOutFact([label, text, tone = "plain"]: Fact, room: number, isColoured: boolean): string[] {
  return wrapAdvice(toPrintable(text), room).map((line, at) => {
    const shown = inTone(line, tone, isColoured);
    // A command is copied: where it would be broken, it begins further to the left.
    const isTooLong = at > 0 && isCommand(line) && widthOf(line) > room;
    return isTooLong ? `  ${shown}` : labelLine(at === 0 ? label : "", shown, isColoured);
  });
}

/** Pads the label before it is styled. */
function labelLine(label: string, text: string, isColoured: boolean): string {
  return `${inTone(label, "strong", isColoured)}${labelledLine(label, text).slice(label.length)}`;
}

function columnsOf(fact: Fact | undefined): readonly Column[] | null {
  const row = fact?.[3];
  return row === undefined || row === "in row" ? null : row.columns;
}

/** Returns how many facts from there on are rows of one table, with what is said below them; 0 for a fact that is no row. */
function countRows(facts: readonly Fact[], from: number): number {
  const columns = columnsOf(facts[from]);
  if (columns === null) return 0;
  const end = facts.findIndex((fact, at) => at > from && fact[0] !== "" && columnsOf(fact) !== columns);
  return (end === -1 ? facts.length : end) - from;
}

function layOutRows(facts: readonly Fact[], room: number, isColoured: boolean): string[] {
  const rows: Cell[][] = [];
  const below: Cell[][] = [];
  for (const [, text, tone = "plain", row] of facts)
    if (row === undefined) below.at(-1)?.push({ text: toPrintable(text), tone });
    else if (row !== "in row") {
      rows.push(row.cells.map(toPrintableCell));
      below.push((row.below ?? []).map(toPrintableCell));
    }
  const columns = columnsOf(facts[0]) ?? [];
  const { text } = layOutTable(columns, rows, { width: room, isColoured, isHeadless: true }, below);
  const label = facts[0]?.[0] ?? "";
  return text.split("\n").map((line, at) => labelLine(at === 0 ? label : "", line, isColoured).trimEnd());
}

function toPrintableCell(cell: Cell): Cell {
  return typeof cell === "string" ? toPrintable(cell) : { ...cell, text: toPrintable(cell.text) };
}

/** Prints facts on standard output. */
export function printFacts(facts: readonly Fact[]): void {
  printStyled(layOutFacts(facts, process.stdout.columns || Infinity, hasColours()).join("\n"));
}
