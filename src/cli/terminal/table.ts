import { stripVTControlCharacters } from "node:util";
import Table from "cli-table3";
import { wrapWords } from "./prose.ts";

/** A column of a text table. */
export interface Column {
  head: string;
  align: "left" | "right";
}

/** Also those within the style of the last heading, which would wrap a line that fits. */
// oxlint-disable-next-line no-control-regex -- the style's end
const TRAILING_SPACES = / +((?:\u001b\[\d+m)*)$/gm;

/** No borders: one line for each row, columns two spaces apart. */
const NO_BORDERS = Object.fromEntries(
  ["top", "bottom", "mid", "left", "right"].flatMap((side) =>
    ["", "-mid", "-left", "-right"].map((corner) => [side + corner, ""]),
  ),
);

/**
 * Formats rows as a text table with a heading line, in bold when coloured. A string in `columns` is the heading of a
 * left-aligned column. Where the table is wider than the terminal, each row becomes a list of its cells.
 */
export function formatTable(
  columns: readonly (Column | string)[],
  rows: readonly string[][],
  isColoured = false,
  width = process.stdout.columns || Infinity,
): string {
  const heads = columns.map((column) => (typeof column === "string" ? column : column.head));
  const table = new Table({
    head: heads,
    colAligns: columns.map((column) => (typeof column === "string" ? "left" : column.align)),
    chars: { ...NO_BORDERS, middle: "" },
    style: { head: isColoured ? ["bold"] : [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  table.push(...rows.map((row) => [...row]));
  const text = table.toString().replaceAll(TRAILING_SPACES, "$1");
  const isTooWide = text.split("\n").some((line) => stripVTControlCharacters(line).length > width);
  return isTooWide ? formatLists(heads, rows, width) : text;
}

/** The first cell heads the list of the others. Empty cells are left out, and long ones go on under their beginning. */
function formatLists(heads: readonly string[], rows: readonly string[][], width: number): string {
  const padding = Math.max(...heads.slice(1).map((head) => head.length));
  const indent = padding + 4;
  const wrap = (cell: string) =>
    stripVTControlCharacters(cell).length <= width - indent
      ? cell
      : wrapWords(cell, width - indent).replaceAll("\n", `\n${" ".repeat(indent)}`);
  return rows
    .map(([first = "", ...cells]) => {
      const named = cells.map((cell, index) => [heads[index + 1] ?? "", cell] as const);
      const lines = named
        .filter(([, cell]) => cell !== "")
        .map(([head, cell]) => `  ${head.padEnd(padding)}  ${wrap(cell)}`);
      return [first, ...lines].join("\n");
    })
    .join("\n");
}
