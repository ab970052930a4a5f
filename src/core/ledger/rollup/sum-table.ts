import type { Column } from "./sum-block.ts";

/** Rows of sums, of which each has as many. They are numbers without any object, because a year has a million. */
export class SumTable {
  readonly width: number;
  #sums: Float64Array;

  constructor(width: number) {
    this.width = width;
    this.#sums = new Float64Array(width * 64);
  }

  /** Adds a column to one of the sums: each number to that of its row; nowhere where `rows` has a negative number. */
  addColumn(sum: number, rows: Int32Array, column: Column): void {
    if (isZero(column)) return;
    const sums = this.#sums;
    const { width } = this;
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] ?? -1;
      // Never undefined, which the compiler does not know.
      if (row >= 0) sums[row * width + sum] = (sums[row * width + sum] ?? 0) + (column[at] ?? 0);
    }
  }

  /** The sums of all rows, one row after another. */
  get all(): Float64Array {
    return this.#sums;
  }

  /** Returns the sums of a row. */
  row(row: number): Float64Array {
    return this.#sums.subarray(row * this.width, (row + 1) * this.width);
  }

  /** Makes room for so many rows. */
  grow(rows: number): void {
    const needed = rows * this.width;
    if (needed <= this.#sums.length) return;
    const grown = new Float64Array(Math.max(needed, this.#sums.length * 2));
    grown.set(this.#sums);
    this.#sums = grown;
  }
}

/** True for a column that adds nothing. Most columns do not. */
export function isZero(column: Column): boolean {
  for (let at = 0; at < column.length; at += 1) if (column[at] !== 0) return false;
  return true;
}
