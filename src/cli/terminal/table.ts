import Table from "cli-table3";

/** How a column's cells stand. */
export type Align = "left" | "right";

/** A column of a table for people. */
export interface Column {
  head: string;
  align: Align;
}

/** No frame and no lines: a row on a line of its own, columns two spaces apart. */
const NO_LINES = Object.fromEntries(
  ["top", "bottom", "mid", "left", "right"].flatMap((side) =>
    ["", "-mid", "-left", "-right"].map((corner) => [side + corner, ""]),
  ),
);

/** Lays rows out under their heads. Colour is for terminals that want it only. */
export function layOut(columns: readonly Column[], rows: readonly string[][], isColoured = false): string {
  const table = new Table({
    head: columns.map(({ head }) => head),
    colAligns: columns.map(({ align }) => align),
    chars: { ...NO_LINES, middle: "" },
    style: { head: isColoured ? ["bold"] : [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString().replaceAll(/ +$/gm, "");
}
