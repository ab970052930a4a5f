import Table from "cli-table3";

/** A column of a text table. */
export interface Column {
  head: string;
  align: "left" | "right";
}

/** No borders: one line for each row, columns two spaces apart. */
const NO_BORDERS = Object.fromEntries(
  ["top", "bottom", "mid", "left", "right"].flatMap((side) =>
    ["", "-mid", "-left", "-right"].map((corner) => [side + corner, ""]),
  ),
);

/**
 * Formats rows as a text table with a heading line, in bold when coloured. A string in `columns` is the heading of a
 * left-aligned column.
 */
export function formatTable(
  columns: readonly (Column | string)[],
  rows: readonly string[][],
  isColoured = false,
): string {
  const table = new Table({
    head: columns.map((column) => (typeof column === "string" ? column : column.head)),
    colAligns: columns.map((column) => (typeof column === "string" ? "left" : column.align)),
    chars: { ...NO_BORDERS, middle: "" },
    style: { head: isColoured ? ["bold"] : [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString().replaceAll(/ +$/gm, "");
}
