import { SANDBOX_UPSTREAM } from "../config/names.ts";
import type { Calendar } from "./calendar.ts";
import { Distribution } from "./distribution.ts";
import { isTime, nameOf, type Grouping } from "./grouping.ts";
import { isWanted, type RecordFilter } from "./record-filter.ts";
import type { UsageRecord } from "./record.ts";
import { SpendTracker, type CountedRequest } from "./spend.ts";
import type { ExtraTokens, Tokens } from "../usage/reading.ts";

/** Sums of one group, in the ledger's terms: the three input counts are disjoint, and `output` includes `reasoning`. */
export interface ReportRow {
  /** One for each grouping; null when the records do not say. */
  names: readonly (string | null)[];
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
  /** Requests whose response was cut short, by whomever. */
  cut: number;
  /** Milliseconds to the first token, of streams. */
  ttft: Distribution;
  /** Output tokens per second after the first one, of streams with exact usage. */
  speed: Distribution;
}

/** Rows and their sum. */
export interface Sums {
  /** Times with the latest first; all other groupings by tokens, most first. With two groupings the rows of one name stand together. */
  rows: ReportRow[];
  total: ReportRow;
}

export interface UsageReport extends Sums {
  by: readonly Grouping[];
  /** Requests that the built-in sandbox responded to. Their tokens are made up, and in no other sum. */
  sandbox: Sums;
}

/**
 * Sums up the records that `filter` admits, given in the ledger's order, grouped by `by`; days are those of `calendar`. spend.ts
 * decides which records count. Token sets that the top-level usage leaves out are added when they are certainly billed, under their own model when
 * grouped by model. The others are summed separately as `maybe_unbilled`.
 */
export async function summarise(
  records: AsyncIterable<UsageRecord> | Iterable<UsageRecord>,
  by: readonly Grouping[],
  calendar: Calendar,
  filter: RecordFilter = {},
): Promise<UsageReport> {
  const tracker = new SpendTracker();
  const [real, sandbox] = [new Rows(by, calendar), new Rows(by, calendar)];
  const rowsFor = (record: UsageRecord) => (record.upstream === SANDBOX_UPSTREAM ? sandbox : real);
  const count = (counted: CountedRequest) => {
    if (isWanted(filter, counted.record, counted.source)) rowsFor(counted.record).addRequest(counted);
  };
  for await (const record of records) {
    const counted = tracker.add(record);
    if (counted === "failed") {
      if (isWanted(filter, record, record)) rowsFor(record).addFailed(record);
    } else if (counted !== null) count(counted);
  }
  tracker.flush().forEach(count);
  return { by, ...real.sums(), sandbox: sandbox.sums() };
}

function sumTokens(set: Pick<ReportRow, "input_uncached" | "cache_read" | "cache_write" | "output">): number {
  return set.input_uncached + set.cache_read + set.cache_write + set.output;
}

class Rows {
  readonly #by: readonly Grouping[];
  readonly #calendar: Calendar;
  readonly #model: number;
  /** By the first name, and then by the second, which without a second grouping is null. */
  readonly #groups = new Map<string | null, Map<string | null, ReportRow>>();
  readonly #total = emptyRow([]);

  constructor(by: readonly Grouping[], calendar: Calendar) {
    this.#by = by;
    this.#calendar = calendar;
    this.#model = by.indexOf("model");
  }

  addFailed(record: UsageRecord): void {
    this.#addTo(this.#namesOf(record, record), (row) => void (row.failed += 1));
  }

  addRequest({ record, source }: CountedRequest): void {
    const names = this.#namesOf(record, source);
    this.#addTo(names, (row) => {
      row.requests += 1;
      if (source.tokens === null) row.absent += 1;
      else if (source.usage !== "final") row.partial += 1;
      if (source.tokens !== null) addTokens(row, source.tokens, source.tokens.reasoning);
      if (record.outcome === "cut") row.cut += 1;
      if (record.stream === true) addTimes(row, record);
    });
    for (const set of source.extra) {
      this.#addTo(this.#namesOfExtra(names, set), (row) => {
        if (set.billable === true) addTokens(row, set, null);
        else row.maybe_unbilled += sumTokens(set);
      });
    }
  }

  sums(): Sums {
    const [first = "tool", second = "tool"] = this.#by;
    const groups = [...this.#groups].map(([name, rows]) => {
      const sorted = [...rows.values()].toSorted(compareRows(second, 1));
      const tokens = sorted.reduce((sum, row) => sum + sumTokens(row), 0);
      return { name, rows: sorted, tokens, requests: sorted.reduce((sum, row) => sum + row.requests, 0) };
    });
    const compare = (one: (typeof groups)[number], other: (typeof groups)[number]) =>
      isTime(first)
        ? compareText(other.name ?? "", one.name ?? "")
        : other.tokens - one.tokens ||
          other.requests - one.requests ||
          compareText(one.name ?? "", other.name ?? "");
    return { rows: groups.toSorted(compare).flatMap(({ rows }) => rows), total: this.#total };
  }

  #addTo(names: readonly (string | null)[], change: (row: ReportRow) => void): void {
    const [first = null, second = null] = names;
    let group = this.#groups.get(first);
    if (group === undefined) this.#groups.set(first, (group = new Map()));
    let row = group.get(second);
    if (row === undefined) group.set(second, (row = emptyRow(names)));
    change(row);
    change(this.#total);
  }

  #namesOf(record: UsageRecord, source: UsageRecord): (string | null)[] {
    return this.#by.map((grouping) => nameOf(grouping, record, source, this.#calendar));
  }

  #namesOfExtra(names: readonly (string | null)[], { model }: ExtraTokens): readonly (string | null)[] {
    return this.#model === -1 || model === null ? names : names.with(this.#model, model);
  }
}

/** Times: the latest first. Others: most tokens first. `at` is the place of the grouping's name. */
function compareRows(grouping: Grouping, at: number): (one: ReportRow, other: ReportRow) => number {
  const byName = (one: ReportRow, other: ReportRow) =>
    compareText(one.names[at] ?? "", other.names[at] ?? "");
  if (isTime(grouping)) return (one, other) => byName(other, one);
  return (one, other) =>
    sumTokens(other) - sumTokens(one) || other.requests - one.requests || byName(one, other);
}

/** Compares by code unit, so that the order is the same on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function emptyRow(names: readonly (string | null)[]): ReportRow {
  return {
    names,
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
    cut: 0,
    ttft: new Distribution(),
    speed: new Distribution(),
  };
}

/** A response of one token has no speed. */
function addTimes(row: ReportRow, record: UsageRecord): void {
  const { ttft_ms: first, duration_ms: whole, usage, tokens } = record;
  if (first === null) return;
  row.ttft.add(first);
  if (usage === "final" && tokens !== null && tokens.output > 1 && whole > first)
    row.speed.add(((tokens.output - 1) * 1000) / (whole - first));
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
