import { element } from "./elements.ts";
import type { Row, Sums } from "./feed-types.ts";
import { formatCount, formatShare } from "./numbers.ts";
import type { TableColumn } from "./table.ts";
import {
  allOf,
  certaintyOf,
  costOf,
  coverageOf,
  failedOf,
  inputOf,
  ownWorthOf,
  worthOf,
} from "./usage-sums.ts";

const COST: TableColumn<Row> = {
  head: "cost",
  money: "spent",
  value: (row) => Number(row.cost_usd),
  text: costOf,
  exact: (row) => row.cost_usd ?? "",
};

const WORTH: TableColumn<Row> = {
  head: "worth",
  money: "other",
  // What no plan paid is less than what one paid that cost nothing with a key, too.
  value: (row) => Number(row.plan_worth_usd ?? -Infinity),
  text: worthOf,
  exact: (row) => row.plan_worth_usd ?? "",
};

const OWN_KEYS: TableColumn<Row> = {
  head: "own keys",
  money: "other",
  value: (row) => Number(row.own_worth_usd ?? -Infinity),
  text: ownWorthOf,
  exact: (row) => row.own_worth_usd ?? "",
};

const OTHERS: readonly TableColumn<Row>[] = [
  {
    head: "requests",
    value: allOf,
    unit: (row) => (allOf(row) === 1 ? "request" : "requests"),
  },
  { head: "tokens in", value: inputOf },
  {
    head: "from cache",
    value: (row) => row.cache_read / (inputOf(row) || 1),
    text: (row) => formatShare(row.cache_read, inputOf(row)),
  },
  { head: "tokens out", value: ({ output }) => output },
  {
    head: "failed",
    value: failedOf,
    text: (row) => (failedOf(row) === 0 ? "" : formatCount(failedOf(row))),
  },
];

const CERTAINTY: TableColumn<Row> = {
  head: "certainty",
  value: certaintyOf,
  text: coverageOf,
  // What is exact is the rule.
  contents: (row) => [element("span", row.cost_is_exact ? { class: "usual" } : {}, coverageOf(row))],
  isWords: true,
};

/** Columns of sums, the cost first. None says what plans are worth, or own keys paid, where none paid anything. The last says how certain the cost is. */
export function sumColumns(rows: readonly Sums[]): TableColumn<Row>[] {
  return [COST, ...worthColumns(rows), ...OTHERS, CERTAINTY];
}

/** The same for narrow lists: a sign at the cost says how certain it is, and what a plan paid is beside it in brackets. CSV has that apart. */
export function narrowSumColumns(rows: readonly Sums[]): TableColumn<Row>[] {
  return [{ ...COST, text: costWithWorth }, ...worthColumns(rows), ...OTHERS];
}

function costWithWorth(row: Row, decimals?: number): string {
  const [cost, worth] = [costOf(row, decimals), worthOf(row, decimals)];
  return worth === "" ? cost : `${cost} (${worth})`;
}

function worthColumns(rows: readonly Sums[]): TableColumn<Row>[] {
  return [
    ...(rows.some((row) => row.plan_worth_usd !== null) ? [WORTH] : []),
    ...(rows.some((row) => row.own_worth_usd !== null) ? [OWN_KEYS] : []),
  ];
}
