import { GROUPINGS } from "../../../core/ledger/grouping.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ReportRow, Sums } from "../../../core/ledger/report.ts";
import type { PriceTable } from "../../../core/price/price-table.ts";
import { formatCostOf } from "../usage/columns.ts";
import { describeTotal } from "../usage/sentences.ts";

/** So many rows are given, the first ones: a model pays for what it reads. */
const MOST_ROWS = 20;

/** The fields of a row that are given. What a person compares runs by, such as speeds, is left out. */
const FIELDS: ReadonlySet<string> = new Set([
  ...GROUPINGS,
  "depth",
  "requests",
  "failed",
  "refused",
  "failed_midway",
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
  "extra_requests",
  "extra_cost_usd",
  "own_requests",
  "own_worth_usd",
  "unpriced",
]);

/** Rows that may be made when they are asked for. */
type Rows = Pick<readonly JsonObject[], "length" | "slice">;

interface SumsDocument {
  rows: Rows;
  total: JsonObject;
}

/** What a document is about. */
interface Figures {
  own: Sums;
  sandbox: Sums;
  table: PriceTable;
  remarks: readonly string[];
}

/**
 * Returns a report's document with fewer fields and rows. `rows_left_out` says how many rows are missing; the total has them. Tools may
 * show their model the document and not the text, so it has the marks, too: `cost` of each row, and the sentences in `explained`.
 */
export function shortenReport(document: object, { own, sandbox, table, remarks }: Figures): object {
  const { rows, total, sandbox: made, ...about } = document as SumsDocument & { sandbox: SumsDocument };
  const isInSandbox = made.rows.length > 0;
  const explained = [
    ...(rows.length > 0 ? describeTotal(own.total, table, null) : []),
    ...remarks,
    ...(isInSandbox ? ["What is in sandbox is made up and costs nothing."] : []),
  ];
  return {
    ...about,
    ...shortenSums({ rows, total }, own),
    sandbox: isInSandbox ? shortenSums(made, sandbox) : null,
    explained,
  };
}

function shortenSums({ rows, total }: SumsDocument, sums: Sums): object {
  const shorten = (row: JsonObject, of: ReportRow | undefined) => ({
    ...(of !== undefined && { cost: formatCostOf(of, sums.total) }),
    ...Object.fromEntries(Object.entries(row).filter(([name]) => FIELDS.has(name))),
  });
  return {
    rows: firstRows(rows).map((row, at) => shorten(row, sums.rows[at])),
    rows_left_out: Math.max(0, rows.length - MOST_ROWS),
    total: shorten(total, sums.total),
  };
}

/** Returns the rows that an answer has room for. */
export function firstRows<Row>(rows: Pick<readonly Row[], "slice">): readonly Row[] {
  return rows.slice(0, MOST_ROWS);
}
