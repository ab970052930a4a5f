import type { Tone } from "./styles.ts";

/** A cell: its text, and how it stands out. */
export type Cell = string | { text: string; tone: Tone };

/** No text that is printed has it. */
const SEPARATOR = "\0";

/** The rows of a table, of which each is one text: the cells of a year would take ten times the memory of its lines. */
export class PackedRows {
  readonly #rows: (string | readonly Cell[])[] = [];

  get length(): number {
    return this.#rows.length;
  }

  /** Adds a row at the end. */
  add(cells: readonly Cell[]): void {
    const texts = cells.filter(
      (cell): cell is string => typeof cell === "string" && !cell.includes(SEPARATOR),
    );
    this.#rows.push(texts.length === cells.length ? texts.join(SEPARATOR) : cells);
  }

  /** Returns the cells of a row. */
  at(row: number): readonly Cell[] {
    const cells = this.#rows[row] ?? [];
    return typeof cells === "string" ? cells.split(SEPARATOR) : cells;
  }
}
