import { formatMoney, parseMoney } from "../../../../core/price/money.ts";
import type { Row } from "../feed-types.ts";
import { nameIn } from "../usage-sums.ts";

/** What of a group is a count. */
const COUNTS = [
  "requests",
  "failed",
  "refused",
  "input_uncached",
  "cache_read",
  "cache_write",
  "output",
  "partial",
  "absent",
  "cut",
  "failed_midway",
  "plan_requests",
  "own_requests",
] as const;

/** Adds rows of several times up to one for each group. A cost is exact if all of its parts are. */
export function addGroups(rows: readonly Row[], by: string): Row[] {
  const groups = new Map<string, Row>();
  for (const row of rows) {
    const name = nameIn(row, by);
    const before = groups.get(name);
    groups.set(name, before === undefined ? row : add(before, row));
  }
  return [...groups.values()];
}

function add(one: Row, other: Row): Row {
  const counts = COUNTS.map((name) => [name, one[name] + other[name]] as const);
  return {
    ...one,
    ...Object.fromEntries(counts),
    cost_usd: addUsd(one.cost_usd, other.cost_usd),
    cost_is_exact: one.cost_is_exact && other.cost_is_exact,
    unpriced: [...one.unpriced, ...other.unpriced],
  };
}

/** Null only where nothing is known of both. Sums of JavaScript numbers would not be exact. */
function addUsd(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return formatMoney((parseMoney(one) ?? 0n) + (parseMoney(other) ?? 0n));
}
