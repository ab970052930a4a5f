import type { Money } from "../../price/money.ts";
import { isTime, type Grouping } from "../grouping.ts";
import type { RollupSums } from "../rollup/rollup-sums.ts";

/** What decides which of two rows comes first, or of two groups of them, by their numbers. */
interface Sizes {
  nameOf(number: number): string;
  amountOf(number: number): Money;
  tokensOf(number: number): number;
  requestsOf(number: number): number;
}

/**
 * Sorts rows by their first names, and those of each by the second. Times and windows: the latest first. Others: the largest first. Rows
 * stay numbers, because a year has a hundred thousand.
 * @param amounts what each row costs at least
 * @returns the numbers of the rows of the sandbox, or of all others
 */
export function sortRows(
  [first = "tool", second = "tool"]: readonly Grouping[],
  sums: RollupSums,
  amounts: readonly Money[],
  ofSandbox: boolean,
): Int32Array {
  const rows = Int32Array.from(sums.rows(ofSandbox));
  const groups = groupRows(sums, amounts, rows);
  const inOrder = groups.all.sort((one, other) => compare(first, groups.sizes, one, other));
  const sorted = new Int32Array(rows.length);
  const ends = new Int32Array(groups.counts.length);
  let end = 0;
  for (const group of inOrder) {
    ends[group] = end;
    end += groups.counts[group] ?? 0;
  }
  for (const row of rows) {
    const group = sums.names.firstOf(row);
    const at = ends[group] ?? 0;
    sorted[at] = row;
    ends[group] = at + 1;
  }
  const sizes = sizesOf(sums, amounts);
  for (const group of inOrder) {
    const count = groups.counts[group] ?? 0;
    const last = ends[group] ?? 0;
    if (count > 1)
      sorted.subarray(last - count, last).sort((one, other) => compare(second, sizes, one, other));
  }
  return sorted;
}

function sizesOf(sums: RollupSums, amounts: readonly Money[]): Sizes {
  return {
    nameOf: (row) => sums.names.nameAt(row, 1) ?? "",
    amountOf: (row) => amounts[row] ?? 0n,
    tokensOf: (row) => sums.tokensOf(row),
    requestsOf: (row) => sums.requestsOf(row),
  };
}

/** Adds up the rows with the same first name. The groups are numbers, in the order of their first rows. */
function groupRows(sums: RollupSums, rowAmounts: readonly Money[], rows: Int32Array) {
  const { names } = sums;
  const size = rows.reduce((most, row) => Math.max(most, names.firstOf(row) + 1), 0);
  const amounts = Array.from({ length: size }, () => 0n);
  const [tokens, requests, counts] = [new Float64Array(size), new Float64Array(size), new Int32Array(size)];
  const firstRows = new Int32Array(size);
  const all: number[] = [];
  for (const row of rows) {
    const group = names.firstOf(row);
    if (counts[group] === 0) {
      all.push(group);
      firstRows[group] = row;
    }
    counts[group] = (counts[group] ?? 0) + 1;
    amounts[group] = (amounts[group] ?? 0n) + (rowAmounts[row] ?? 0n);
    tokens[group] = (tokens[group] ?? 0) + sums.tokensOf(row);
    requests[group] = (requests[group] ?? 0) + sums.requestsOf(row);
  }
  const sizes: Sizes = {
    nameOf: (group) => names.nameAt(firstRows[group] ?? 0, 0) ?? "",
    amountOf: (group) => amounts[group] ?? 0n,
    tokensOf: (group) => tokens[group] ?? 0,
    requestsOf: (group) => requests[group] ?? 0,
  };
  return { all, counts, sizes };
}

function compare(grouping: Grouping, sizes: Sizes, one: number, other: number): number {
  const byName = () => compareText(sizes.nameOf(one), sizes.nameOf(other));
  if (isTime(grouping) || grouping === "window") return -byName();
  const [amount, otherAmount] = [sizes.amountOf(one), sizes.amountOf(other)];
  if (amount !== otherAmount) return amount > otherAmount ? -1 : 1;
  return (
    sizes.tokensOf(other) - sizes.tokensOf(one) || sizes.requestsOf(other) - sizes.requestsOf(one) || byName()
  );
}

/** Compares by code unit, so that the order is the same on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
