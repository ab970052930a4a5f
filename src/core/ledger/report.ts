import { SANDBOX_UPSTREAM } from "../config/names.ts";
import { chargesOf } from "../price/charge.ts";
import type { Money } from "../price/money.ts";
import type { PriceBook } from "../price/price-book.ts";
import type { SpendingCost } from "../price/spending.ts";
import type { ExtraTokens } from "../usage/reading.ts";
import type { Calendar } from "./calendar.ts";
import { isTime, nameOf, type Grouping } from "./grouping.ts";
import { isWanted, type RecordFilter } from "./record-filter.ts";
import type { UsageRecord } from "./record.ts";
import { SpendTracker, type CountedRequest } from "./spend.ts";
import { sumTokens, Tally } from "./tally.ts";

/** What a report is to show: rows by these groupings, in these days, at these prices, of the records that `filter` admits. */
interface ReportQuestion {
  by: readonly Grouping[];
  calendar: Calendar;
  prices: PriceBook;
  filter?: RecordFilter;
}

/** One group: its sums, and what it cost. */
export interface ReportRow {
  /** One for each grouping; null when the records do not say. */
  names: readonly (string | null)[];
  sums: Tally;
  cost: SpendingCost;
}

/** Rows and their sum. */
export interface Sums {
  /** Times with the latest first; all other groupings by cost, and where that is the same by tokens, most first. With two groupings the rows of one name stand together. */
  rows: ReportRow[];
  total: ReportRow;
}

export interface UsageReport extends Sums {
  by: readonly Grouping[];
  /** Requests that the built-in sandbox responded to. Their tokens are made up, and in no other sum. */
  sandbox: Sums;
}

/**
 * Sums up records, given in the ledger's order. spend.ts decides which of them count. Token sets that the top-level usage leaves out are
 * added when they are certainly billed, under their own model when grouped by model. The others are summed separately as
 * `maybe_unbilled`.
 */
export async function summarise(
  records: AsyncIterable<UsageRecord> | Iterable<UsageRecord>,
  question: ReportQuestion,
): Promise<UsageReport> {
  const { by, filter = {} } = question;
  const tracker = new SpendTracker();
  const [real, sandbox] = [new Rows(question), new Rows(question)];
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

class Rows {
  readonly #question: ReportQuestion;
  readonly #model: number;
  /** By the first name, and then by the second, which without a second grouping is null. */
  readonly #groups = new Map<string | null, Map<string | null, Tally>>();

  constructor(question: ReportQuestion) {
    this.#question = question;
    this.#model = question.by.indexOf("model");
  }

  addFailed(record: UsageRecord): void {
    this.#tally(this.#namesOf(record, record)).addFailed(record);
  }

  addRequest(counted: CountedRequest): void {
    const { record, source } = counted;
    const names = this.#namesOf(record, source);
    const charges = chargesOf(source);
    this.#tally(names).addRequest(counted, charges.own);
    if (source.extra.length === 0) return;
    const extra = charges.extra.values();
    for (const set of source.extra) {
      const charge = set.billable === true ? extra.next().value : undefined;
      this.#tally(this.#namesOfExtra(names, set)).addExtra(set, charge);
    }
  }

  sums(): Sums {
    const { by, prices } = this.#question;
    const [first = "tool", second = "tool"] = by;
    const total = new Tally(prices);
    const groups = [...this.#groups].map(([name, tallies]) => {
      const rows = [...tallies].map(([other, sums]) => {
        total.add(sums);
        return { names: by.length === 1 ? [name] : [name, other], sums, cost: sums.spending.cost(prices) };
      });
      return { name, rows: rows.toSorted(compareRows(second, 1)), size: sizeOf(rows) };
    });
    const compare = (one: (typeof groups)[number], other: (typeof groups)[number]) =>
      isTime(first)
        ? compareText(other.name ?? "", one.name ?? "")
        : compareSizes(one.size, other.size) || compareText(one.name ?? "", other.name ?? "");
    return {
      rows: groups.toSorted(compare).flatMap(({ rows }) => rows),
      total: { names: [], sums: total, cost: total.spending.cost(prices) },
    };
  }

  #tally([first = null, second = null]: readonly (string | null)[]): Tally {
    let group = this.#groups.get(first);
    if (group === undefined) this.#groups.set(first, (group = new Map()));
    let tally = group.get(second);
    if (tally === undefined) group.set(second, (tally = new Tally(this.#question.prices)));
    return tally;
  }

  #namesOf(record: UsageRecord, source: UsageRecord): (string | null)[] {
    const { by, calendar } = this.#question;
    return by.map((grouping) => nameOf(grouping, record, source, calendar));
  }

  #namesOfExtra(names: readonly (string | null)[], { model }: ExtraTokens): readonly (string | null)[] {
    return this.#model === -1 || model === null ? names : names.with(this.#model, model);
  }
}

/** What decides which of two groups comes first. */
interface Size {
  amount: Money;
  tokens: number;
  requests: number;
}

function sizeOf(rows: readonly ReportRow[]): Size {
  return {
    amount: rows.reduce((sum, { cost }) => sum + cost.amount, 0n),
    tokens: rows.reduce((sum, { sums }) => sum + sumTokens(sums), 0),
    requests: rows.reduce((sum, { sums }) => sum + sums.requests, 0),
  };
}

/** The larger one first. */
function compareSizes(one: Size, other: Size): number {
  if (one.amount !== other.amount) return one.amount > other.amount ? -1 : 1;
  return other.tokens - one.tokens || other.requests - one.requests;
}

/** Times: the latest first. Others: the largest first. `at` is the place of the grouping's name. */
function compareRows(grouping: Grouping, at: number): (one: ReportRow, other: ReportRow) => number {
  const byName = (one: ReportRow, other: ReportRow) =>
    compareText(one.names[at] ?? "", other.names[at] ?? "");
  if (isTime(grouping)) return (one, other) => byName(other, one);
  return (one, other) => compareSizes(sizeOf([one]), sizeOf([other])) || byName(one, other);
}

/** Compares by code unit, so that the order is the same on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
