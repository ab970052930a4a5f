import { SANDBOX_UPSTREAM } from "../config/names.ts";
import type { Calendar } from "./calendar.ts";
import type { UsageRecord } from "./record.ts";
import { SpendTracker, type CountedRequest } from "./spend.ts";
import type { ExtraTokens, Tokens } from "../usage/reading.ts";

/** What the rows of a report can be grouped by. */
export const GROUPINGS = ["tool", "model", "day", "session", "project", "branch", "key"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Sums of one group, in the ledger's terms: the three input counts are disjoint, and `output` includes `reasoning`. */
export interface ReportRow {
  /** null when the records do not say. */
  name: string | null;
  /** Requests that spent tokens, or may have. */
  requests: number;
  /** Other requests: refused by tollkeeper, or failed with a plain error, so that nothing was spent. */
  failed: number;
  input_uncached: number;
  cache_read: number;
  cache_write: number;
  output: number;
  /** null when no response reported it. A lower bound when `reasoning_unknown` is not 0. */
  reasoning: number | null;
  /** How many of the summed token sets do not report reasoning. */
  reasoning_unknown: number;
  /** Requests whose tokens in the sums are a lower bound. */
  partial: number;
  /** Requests whose tokens are unknown and missing from the sums. */
  absent: number;
  /** Tokens that are billed only in some cases; not in the sums. */
  maybe_unbilled: number;
}

/** Rows and their sum. */
export interface Sums {
  /** Days in ascending order; all other groupings by tokens, most first. */
  rows: ReportRow[];
  total: ReportRow;
}

export interface UsageReport extends Sums {
  by: Grouping;
  /** Requests that the built-in sandbox responded to. Their tokens are made up, and in no other sum. */
  sandbox: Sums;
}

/**
 * Sums up records, given in the ledger's order, grouped by `by`; days are those of `calendar`. spend.ts decides which records
 * count. Token sets that the top-level usage leaves out are added when they are certainly billed, under their own model when
 * grouped by model. The others are summed separately as `maybe_unbilled`.
 */
export async function summarise(
  records: AsyncIterable<UsageRecord> | Iterable<UsageRecord>,
  by: Grouping,
  calendar: Calendar,
): Promise<UsageReport> {
  const tracker = new SpendTracker();
  const [real, sandbox] = [new Rows(by, calendar), new Rows(by, calendar)];
  const rowsFor = (record: UsageRecord) => (record.upstream === SANDBOX_UPSTREAM ? sandbox : real);
  for await (const record of records) {
    const counted = tracker.add(record);
    if (counted === "failed") rowsFor(record).addFailed(record);
    else if (counted !== null) rowsFor(record).addRequest(counted);
  }
  for (const counted of tracker.flush()) rowsFor(counted.record).addRequest(counted);
  return { by, ...real.sums(), sandbox: sandbox.sums() };
}

function sumTokens(set: Pick<ReportRow, "input_uncached" | "cache_read" | "cache_write" | "output">): number {
  return set.input_uncached + set.cache_read + set.cache_write + set.output;
}

class Rows {
  readonly #by: Grouping;
  readonly #calendar: Calendar;
  readonly #rows = new Map<string | null, ReportRow>();
  readonly #total = emptyRow(null);

  constructor(by: Grouping, calendar: Calendar) {
    this.#by = by;
    this.#calendar = calendar;
  }

  addFailed(record: UsageRecord): void {
    this.#addTo(this.#nameOf(record, record), (row) => void (row.failed += 1));
  }

  addRequest({ record, source }: CountedRequest): void {
    const name = this.#nameOf(record, source);
    this.#addTo(name, (row) => {
      row.requests += 1;
      if (source.tokens === null) row.absent += 1;
      else if (source.usage !== "final") row.partial += 1;
      if (source.tokens !== null) addTokens(row, source.tokens, source.tokens.reasoning);
    });
    for (const set of source.extra) {
      this.#addTo(this.#by === "model" ? (set.model ?? name) : name, (row) => {
        if (set.billable === true) addTokens(row, set, null);
        else row.maybe_unbilled += sumTokens(set);
      });
    }
  }

  sums(): Sums {
    const rows = [...this.#rows.values()].sort(this.#by === "day" ? compareNames : compareTokens);
    return { rows, total: this.#total };
  }

  #addTo(name: string | null, change: (row: ReportRow) => void): void {
    let row = this.#rows.get(name);
    if (row === undefined) {
      row = emptyRow(name);
      this.#rows.set(name, row);
    }
    change(row);
    change(this.#total);
  }

  /** The model that served is in `source`, the record with the usage; everything else is in `record`. */
  #nameOf(record: UsageRecord, source: UsageRecord): string | null {
    const by = this.#by;
    if (by === "model") return source.model ?? record.model ?? record.model_requested;
    return by === "day" ? this.#calendar.dayOf(Date.parse(record.ts)) : record[by];
  }
}

/** Most tokens first. */
function compareTokens(a: ReportRow, b: ReportRow): number {
  return sumTokens(b) - sumTokens(a) || b.requests - a.requests || compareNames(a, b);
}

function compareNames(a: ReportRow, b: ReportRow): number {
  return compareText(a.name ?? "", b.name ?? "");
}

/** Compares by code unit, so that the order is the same on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function emptyRow(name: string | null): ReportRow {
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

/** Reasoning is part of the output, so it is 0 without output, even when not reported. */
function addTokens(row: ReportRow, set: Tokens | ExtraTokens, reasoning: number | null): void {
  row.input_uncached += set.input_uncached;
  row.cache_read += set.cache_read;
  row.cache_write += set.cache_write;
  row.output += set.output;
  const known = set.output === 0 ? 0 : reasoning;
  if (known === null) row.reasoning_unknown += 1;
  else row.reasoning = (row.reasoning ?? 0) + known;
}
