import type { Row, Sums } from "./feed-types.ts";
import { formatDollars, formatShare } from "./numbers.ts";
import type { TableColumn } from "./table.ts";

/** All input tokens. */
export function inputOf({ input_uncached: uncached, cache_read: read, cache_write: write }: Sums): number {
  return uncached + read + write;
}

/** `≥` where a part of it is not known; a word where nothing of it is. */
export function costOf({ cost_usd: cost, cost_is_exact: isExact, unpriced }: Sums): string {
  if (cost === null) return unpriced.length > 0 ? "unpriced" : "unknown";
  return `${isExact ? "" : "≥"}${formatDollars(Number(cost))}`;
}

/** Whether a cost is all of it. */
export function certaintyOf({ cost_is_exact: isExact }: Sums): string {
  return isExact ? "exact" : "lower bound";
}

/** What a row is named by a grouping. */
export function nameIn(row: Row, grouping: string): string {
  const name = row[grouping];
  return typeof name === "string" ? name : `(no ${grouping})`;
}

/** Requests that failed, without those that tollkeeper refused: the page `health` counts those. */
export function failedOf({ failed, refused }: Sums): number {
  return failed - refused;
}

/** Columns of sums, the cost first. */
export const SUM_COLUMNS: readonly TableColumn<Row>[] = [
  { head: "cost", value: (row) => Number(row.cost_usd), text: costOf, exact: (row) => row.cost_usd ?? "" },
  { head: "requests", value: ({ requests }) => requests },
  { head: "tokens in", value: inputOf },
  {
    head: "from cache",
    value: (row) => row.cache_read / (inputOf(row) || 1),
    text: (row) => formatShare(row.cache_read, inputOf(row)),
  },
  { head: "tokens out", value: ({ output }) => output },
  { head: "failed", value: failedOf },
  { head: "certainty", value: certaintyOf, isWords: true },
];
