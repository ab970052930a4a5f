import type { Row } from "./feed-types.ts";
import { formatShare } from "./numbers.ts";
import type { TableColumn } from "./table.ts";
import { certaintyOf, costOf, failedOf, inputOf } from "./usage-sums.ts";

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
