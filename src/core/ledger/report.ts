import type { Money } from "../price/money.ts";
import type { PriceBook } from "../price/price-book.ts";
import { BackgroundResponses } from "./background.ts";
import type { Calendar } from "./calendar.ts";
import { DaySums, type SumOptions } from "./day-sums.ts";
import { nameOf, type Grouping } from "./grouping.ts";
import { isWanted, type RecordFilter } from "./record-filter.ts";
import { isPartWanted, RollupSums, type RollupPart } from "./rollup/rollup-sums.ts";
import { streamsIn } from "./rollup/streams-in.ts";
import type { SummableRecord } from "./record.ts";
import { StreamsWithoutUsage, type UnaskingTool } from "./streams-without-usage.ts";
import { sortRows } from "./report/sort-rows.ts";
import { SummedRows, type ReportRow } from "./report/summed-row.ts";
import { nameWindows, type AccountWindows } from "../limits/window-names.ts";

export type { ReportRow } from "./report/summed-row.ts";

/** What a report is to show: rows by these groupings, in these days, at these prices, of the records that `filter` admits. */
interface ReportQuestion {
  by: readonly Grouping[];
  calendar: Calendar;
  prices: PriceBook;
  filter: RecordFilter;
  /** The windows of services' limits, for rows by window. */
  windows?: readonly AccountWindows[] | undefined;
}

/** Rows and their sum. */
export interface Sums {
  /**
   * Times with the latest first; all other groupings by cost, and where that is the same by tokens, most first. With two groupings the
   * rows of one name stand together.
   */
  rows: ReportRow[];
  total: ReportRow;
}

export interface UsageReport extends Sums {
  by: readonly Grouping[];
  /** Requests that the built-in sandbox responded to. Their tokens are made up, and in no other sum. */
  sandbox: Sums;
  unaskingTools: readonly UnaskingTool[];
}

/** Returns how the records of a day are summed for a report. */
export function sumOptionsOf({ by, calendar, prices, filter, windows }: ReportQuestion): SumOptions {
  const windowOf = windows === undefined ? null : nameWindows(windows, calendar);
  const namesOf = (record: SummableRecord, source: SummableRecord) =>
    by.map((grouping) => nameOf(grouping, record, source, calendar, windowOf));
  return { axes: { namesOf, model: by.indexOf("model") }, slots: prices, filter };
}

/**
 * Adds up the sums of days, given in their order. Token sets that the top-level usage leaves out are added when they are certainly
 * billed, under their own model when grouped by model. The others are summed separately as `maybe_unbilled`.
 */
export class ReportBuilder {
  readonly #question: ReportQuestion;
  readonly #background = new BackgroundResponses();
  readonly #streams = new StreamsWithoutUsage();
  readonly #sums: RollupSums;

  constructor(question: ReportQuestion) {
    this.#question = question;
    this.#sums = new RollupSums(question);
  }

  /** Adds the sums of the next day, which were summed by `sumOptionsOf` of the same question. */
  add(day: DaySums): void {
    for (const record of day.background) this.#background.add(record);
    for (const seen of day.streams.seen()) this.#streams.addSeen(seen);
    this.#addGroups(day);
  }

  /** Adds the next day by its rollup. */
  addRollup(part: RollupPart): void {
    this.#sums.add(part);
    for (const { start, record } of part.block.background)
      if (isPartWanted(part, start)) this.#background.add(record);
    for (const seen of streamsIn(part, this.#question.filter)) this.#streams.addSeen(seen);
  }

  /** Returns the report. Call it once, at the end. */
  finish(): UsageReport {
    const { by, filter, prices } = this.#question;
    const counted = new DaySums(sumOptionsOf(this.#question));
    for (const request of this.#background.counted())
      if (isWanted(filter, request.record, request.source)) counted.addCounted(request);
    this.#addGroups(counted);
    const rows = new SummedRows(this.#sums, prices, by.includes("miss"));
    const amounts = rows.amounts();
    return {
      by,
      ...sumsOf(by, rows, amounts, false),
      sandbox: sumsOf(by, rows, amounts, true),
      unaskingTools: this.#streams.tools(),
    };
  }

  #addGroups({ groups, sandbox }: DaySums): void {
    for (const [names, tally] of groups.all()) this.#sums.addTally(false, names, tally);
    for (const [names, tally] of sandbox.all()) this.#sums.addTally(true, names, tally);
  }
}

/** @param amounts what each row costs at least */
function sumsOf(
  by: readonly Grouping[],
  rows: SummedRows,
  amounts: readonly Money[],
  ofSandbox: boolean,
): Sums {
  return {
    rows: Array.from(sortRows(by, rows.sums, amounts, ofSandbox), (row) => rows.at(row)),
    total: rows.sumOf([], [...rows.sums.rows(ofSandbox)]),
  };
}

/** Returns a row of which everything has been read. */
export function readRow({ names, sums, cost, missed }: ReportRow): ReportRow {
  return { names, sums, cost, missed };
}

/** Sums up records, given in the ledger's order. */
export function summarise(records: Iterable<SummableRecord>, question: ReportQuestion): UsageReport {
  const builder = new ReportBuilder(question);
  const sums = new DaySums(sumOptionsOf(question));
  for (const record of records) sums.add(record);
  builder.add(sums);
  return builder.finish();
}
