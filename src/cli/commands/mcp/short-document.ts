import { GROUPINGS } from "../../../core/ledger/grouping.ts";
import type { JsonObject } from "../../../core/json.ts";

/** So many rows are given, the first ones: a model pays for what it reads. */
const MOST_ROWS = 20;

/** The fields of a row that are given. What a person compares runs by, such as speeds, is left out. */
const FIELDS: ReadonlySet<string> = new Set([
  ...GROUPINGS,
  "depth",
  "requests",
  "failed",
  "refused",
  "input_uncached",
  "cache_read",
  "cache_write",
  "output",
  "partial",
  "absent",
  "cost_usd",
  "cost_is_exact",
  "billed_usd",
  "plan_requests",
  "plan_worth_usd",
  "unpriced",
]);

interface Sums {
  rows: JsonObject[];
  total: JsonObject;
}

/** Returns a report's document with fewer fields and rows. `rows_left_out` says how many rows are missing; the total has them. */
export function shortenReport(document: object): object {
  const { rows, total, sandbox, ...about } = document as Sums & { sandbox: Sums };
  const isInSandbox = sandbox.rows.length > 0;
  return { ...about, ...shortenSums({ rows, total }), sandbox: isInSandbox ? shortenSums(sandbox) : null };
}

function shortenSums({ rows, total }: Sums): object {
  return {
    rows: firstRows(rows).map(shortenRow),
    rows_left_out: rows.length - firstRows(rows).length,
    total: shortenRow(total),
  };
}

/** Returns the rows that an answer has room for. */
export function firstRows<Row>(rows: readonly Row[]): readonly Row[] {
  return rows.slice(0, MOST_ROWS);
}

function shortenRow(row: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([name]) => FIELDS.has(name)));
}
