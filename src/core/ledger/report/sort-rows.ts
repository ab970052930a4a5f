import type { Money } from "../../price/money.ts";
import { isTime, type Grouping } from "../grouping.ts";
import type { SummedRow } from "./summed-row.ts";

/** What decides which of two rows comes first, or of two groups of them. */
interface Sized {
  name: string;
  amount: Money;
  tokens: number;
  requests: number;
}

/** A row with what it is sorted by. */
interface SizedRow extends Sized {
  first: string | null;
  row: SummedRow;
}

/** Sorts rows by their first names, and those of each by the second. Times and windows: the latest first. Others: the largest first. */
export function sortRows(
  [first = "tool", second = "tool"]: readonly Grouping[],
  rows: readonly SummedRow[],
): SummedRow[] {
  const groups = new Map<string | null, SizedRow[]>();
  for (const row of rows) {
    const [one = null, other = null] = row.names;
    const sized = { first: one, name: other ?? "", amount: row.amount, ...row.size, row };
    const group = groups.get(one);
    if (group === undefined) groups.set(one, [sized]);
    else group.push(sized);
  }
  return Array.from(groups.values(), toGroup)
    .sort((one, other) => compare(first, one, other))
    .flatMap((group) => group.rows.sort((one, other) => compare(second, one, other)).map(({ row }) => row));
}

function toGroup(rows: SizedRow[]): Sized & { rows: SizedRow[] } {
  const group = { name: rows[0]?.first ?? "", amount: 0n, tokens: 0, requests: 0, rows };
  for (const { amount, tokens, requests } of rows) {
    group.amount += amount;
    group.tokens += tokens;
    group.requests += requests;
  }
  return group;
}

function compare(grouping: Grouping, one: Sized, other: Sized): number {
  if (isTime(grouping) || grouping === "window") return -compareText(one.name, other.name);
  if (one.amount !== other.amount) return one.amount > other.amount ? -1 : 1;
  return other.tokens - one.tokens || other.requests - one.requests || compareText(one.name, other.name);
}

/** Compares by code unit, so that the order is the same on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
