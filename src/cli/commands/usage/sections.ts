import { homeDirectory } from "../../../adapters/paths.ts";
import { hasColours, printStyled } from "../../terminal/console.ts";
import { pad, widthOf } from "../../terminal/width.ts";
import type { View } from "./table.ts";

/** A part of a report: a text, or the tables into which a wide one is divided. */
export interface Section {
  pages: readonly string[];
  /** How many lines at the beginning of each page are headings; only tables have some. */
  headLines?: number;
}

/** A line between two sections, and between two pages of one. */
const EMPTY_LINE = "\n\n";

/** Returns how standard output shows a report. A wide one leaves the last column to the mark with which a pager says that lines go on. */
export function viewOf(isWide: boolean): View {
  const columns = process.stdout.columns || Infinity;
  const width = isWide ? columns - 1 : columns;
  return { width, isTerminal: process.stdout.isTTY, isColoured: hasColours(), isWide, home: homeDirectory() };
}

/** Returns a report with all tables one below the other. */
export function stack(sections: readonly Section[]): string {
  return sections.flatMap(({ pages }) => pages).join(EMPTY_LINE);
}

/**
 * Prints a report with all of its columns. Where they or its rows have no room on the terminal, a person scrolls through it: with `less`,
 * tables stand beside each other, and an arrow goes from one to the next, each of which has the names of the rows.
 */
export async function showWide(sections: readonly Section[]): Promise<void> {
  const columns = process.stdout.columns || Infinity;
  const rows = process.stdout.rows || Infinity;
  const stacked = stack(sections);
  const isOnePage = sections.every(({ pages }) => pages.length === 1);
  const hasRoom = stacked.split("\n").length < rows;
  if (!process.stdout.isTTY || columns === Infinity || (isOnePage && hasRoom)) return printStyled(stacked);
  const { findPager, scroll } = await import("../../terminal/pager.ts");
  const pager = findPager(process.env);
  if (pager === null || (pager.less === null && hasRoom)) return printStyled(stacked);
  const text = pager.less === null ? stacked : beside(sections, columns);
  const scrolled = { headLines: headLinesOf(sections), step: columns };
  if (!(await scroll(text, pager, scrolled))) printStyled(stacked);
}

/**
 * Returns a report whose pages stand beside each other, one every `width` characters. A text without pages is on each, and the first line
 * says which of them it is.
 */
function beside(sections: readonly Section[], width: number): string {
  const count = Math.max(...sections.map(({ pages }) => pages.length));
  const all = Array.from({ length: count }, (_, at) => at);
  const screens = sections.map(({ pages }) =>
    all.map((at) => ((pages.length === 1 ? pages[0] : pages[at]) ?? "").split("\n")),
  );
  for (const at of all) {
    const lines = screens[0]?.[at];
    if (lines !== undefined) lines[0] = withPlace(lines[0] ?? "", `${at + 1} of ${count}`, width - 1);
  }
  return screens.map((columns) => joinBeside(columns, width)).join(EMPTY_LINE);
}

/** Writes at the end of a title which screen it is, where there is room. */
function withPlace(title: string, place: string, width: number): string {
  const room = width - place.length - 2;
  return widthOf(title) > room ? title : `${pad(title, room, "left")}  ${place}`;
}

function joinBeside(columns: readonly (readonly string[])[], width: number): string {
  const height = Math.max(...columns.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((lines) => pad(lines[row] ?? "", width, "left"))
      .join("")
      .trimEnd(),
  ).join("\n");
}

/** Returns how many lines there are down to the headings of the first table. */
function headLinesOf(sections: readonly Section[]): number {
  let lines = 0;
  for (const { pages, headLines = 0 } of sections) {
    if (headLines > 0) return lines + headLines;
    lines += (pages[0] ?? "").split("\n").length + 1;
  }
  return 0;
}
