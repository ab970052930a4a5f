import { dayOf } from "./day.ts";
import type { UsageRecord } from "./record.ts";
import { SpendSorter, type SpentRequest } from "./spend.ts";
import type { ExtraTokens, Tokens } from "../usage/reading.ts";

/** What the rows of a report stand for. */
export const GROUPINGS = ["tool", "model", "day", "session", "project", "key"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/**
 * Sums of one tool, model, day, session, project or key. Tokens as in the ledger: `input_uncached`, `cache_read` and `cache_write`
 * are disjoint, `output` includes `reasoning`.
 */
export interface Row {
  /** null: the records do not say. */
  name: string | null;
  /** Requests that spent or may have. */
  requests: number;
  /** Beside them: refused by tollkeeper or answered with a plain error, so nothing was spent. */
  failed: number;
  input_uncached: number;
  cache_read: number;
  cache_write: number;
  output: number;
  /** null when no answer said. A lower bound when `reasoning_unknown` is not 0. */
  reasoning: number | null;
  /** How many of the token sets summed do not say their reasoning. */
  reasoning_unknown: number;
  /** Requests whose tokens are in the sums as a lower bound. */
  partial: number;
  /** Requests whose tokens are unknown and missing from the sums. */
  absent: number;
  /** Tokens billed in some cases only; not in the sums. */
  maybe_unbilled: number;
}

export interface Report {
  by: Grouping;
  /** Days ascending; anything else by tokens, most first. */
  rows: Row[];
  total: Row;
}

/**
 * Sums records, given in the ledger's order, by what `by` names. What counts is said in `spend.ts`. Token sets that the
 * top-level usage leaves out are added where they are billed for certain, by model under their own; the others are
 * summed apart as `maybe_unbilled`.
 */
export async function summarise(
  records: AsyncIterable<UsageRecord> | Iterable<UsageRecord>,
  by: Grouping,
): Promise<Report> {
  const sorter = new SpendSorter();
  const rows = new Rows();
  for await (const record of records) {
    const spent = sorter.take(record);
    if (spent === "failed") rows.addTo(nameOf(record, record, by), (row) => void (row.failed += 1));
    else if (spent !== null) book(rows, spent, by);
  }
  for (const spent of sorter.rest()) book(rows, spent, by);
  return { by, rows: rows.sorted(by), total: rows.total };
}

/** All tokens of a row that its sums hold. */
export function tokensOf(row: Pick<Row, "input_uncached" | "cache_read" | "cache_write" | "output">): number {
  return row.input_uncached + row.cache_read + row.cache_write + row.output;
}

class Rows {
  readonly #rows = new Map<string | null, Row>();
  readonly total = emptyRow(null);

  addTo(name: string | null, change: (row: Row) => void): void {
    let row = this.#rows.get(name);
    if (row === undefined) {
      row = emptyRow(name);
      this.#rows.set(name, row);
    }
    change(row);
    change(this.total);
  }

  sorted(by: Grouping): Row[] {
    const byName = (a: Row, b: Row) => compareText(a.name ?? "", b.name ?? "");
    const byTokens = (a: Row, b: Row) => tokensOf(b) - tokensOf(a) || b.requests - a.requests || byName(a, b);
    return [...this.#rows.values()].sort(by === "day" ? byName : byTokens);
  }
}

/** By code unit: the same order on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function emptyRow(name: string | null): Row {
  return {
    name,
    requests: 0,
    failed: 0,
    input_uncached: 0,
    cache_read: 0,
    cache_write: 0,
    output: 0,
    reasoning: null,
    reasoning_unknown: 0,
    partial: 0,
    absent: 0,
    maybe_unbilled: 0,
  };
}

function book(rows: Rows, { record, source }: SpentRequest, by: Grouping): void {
  const name = nameOf(record, source, by);
  rows.addTo(name, (row) => {
    row.requests += 1;
    if (source.tokens === null) row.absent += 1;
    else if (source.usage !== "final") row.partial += 1;
    if (source.tokens !== null) addTokens(row, source.tokens, source.tokens.reasoning);
  });
  for (const set of source.extra) {
    rows.addTo(by === "model" ? (set.model ?? name) : name, (row) => addExtra(row, set));
  }
}

/** Who asked is the creating record's to say, which model served the record's with the usage. */
function nameOf(record: UsageRecord, source: UsageRecord, by: Grouping): string | null {
  switch (by) {
    case "tool":
      return record.tool;
    case "model":
      return source.model ?? record.model ?? record.model_requested;
    case "day":
      return dayOf(record.ts);
    case "session":
      return record.session;
    case "project":
      return record.project;
    case "key":
      return record.key;
  }
}

function addExtra(row: Row, set: ExtraTokens): void {
  if (set.billable === true) addTokens(row, set, null);
  else row.maybe_unbilled += tokensOf(set);
}

/** Reasoning is part of the output, so where there was no output there was none, said or not. */
function addTokens(row: Row, set: Tokens | ExtraTokens, reasoning: number | null): void {
  row.input_uncached += set.input_uncached;
  row.cache_read += set.cache_read;
  row.cache_write += set.cache_write;
  row.output += set.output;
  const known = set.output === 0 ? 0 : reasoning;
  if (known === null) row.reasoning_unknown += 1;
  else row.reasoning = (row.reasoning ?? 0) + known;
}
