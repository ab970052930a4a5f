import type { Money } from "../price/money.ts";
import type { MissedCost } from "../price/missed.ts";
import type { PriceBook } from "../price/price-book.ts";
import type { SpendingCost } from "../price/spending.ts";
import { BackgroundResponses } from "./background.ts";
import type { Calendar } from "./calendar.ts";
import { DaySums, type SumOptions } from "./day-sums.ts";
import { isTime, nameOf, type Grouping } from "./grouping.ts";
import { Groups, type Names } from "./groups.ts";
import { isWanted, type RecordFilter } from "./record-filter.ts";
import { isPartWanted, RollupSums, type RollupPart } from "./rollup/rollup-sums.ts";
import { streamsIn } from "./rollup/streams-in.ts";
import type { SummableRecord } from "./record.ts";
import { StreamsWithoutUsage, type UnaskingTool } from "./streams-without-usage.ts";
import { sumTokens, Tally } from "./tally.ts";
import { nameWindows, type AccountWindows } from "../limits/window-names.ts";

/** What a report is to show: rows by these groupings, in these days, at these prices, of the records that `filter` admits. */
interface ReportQuestion {
  by: readonly Grouping[];
  calendar: Calendar;
  prices: PriceBook;
  filter: RecordFilter;
  /** The windows of services' limits, for rows by window. */
  windows?: readonly AccountWindows[] | undefined;
}

/** One group: its sums, and what it cost. */
export interface ReportRow {
  /** One for each grouping. */
  names: Names;
  sums: Tally;
  cost: SpendingCost;
  /** What the misses of the cache cost more than hits; left out of reports that are not by miss, and null without a miss. */
  missed?: MissedCost | null;
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
  readonly #groups: Groups;
  readonly #sandbox: Groups;
  readonly #background = new BackgroundResponses();
  readonly #streams = new StreamsWithoutUsage();
  readonly #rollups: RollupSums;

  constructor(question: ReportQuestion) {
    this.#question = question;
    this.#groups = new Groups(question.prices);
    this.#sandbox = new Groups(question.prices);
    this.#rollups = new RollupSums(question);
  }

  /** Adds the sums of the next day, which were summed by `sumOptionsOf` of the same question. */
  add(day: DaySums): void {
    for (const record of day.background) this.#background.add(record);
    for (const seen of day.streams.seen()) this.#streams.addSeen(seen);
    this.#addGroups(day);
  }

  /** Adds the next day by its rollup. */
  addRollup(part: RollupPart): void {
    this.#rollups.add(part);
    for (const { start, record } of part.block.background)
      if (isPartWanted(part, start)) this.#background.add(record);
    for (const seen of streamsIn(part, this.#question.filter)) this.#streams.addSeen(seen);
  }

  /** Returns the report. Call it once, at the end. */
  finish(): UsageReport {
    const { by, filter } = this.#question;
    const counted = new DaySums(sumOptionsOf(this.#question));
    for (const request of this.#background.counted())
      if (isWanted(filter, request.record, request.source)) counted.addCounted(request);
    this.#addGroups(counted);
    return {
      by,
      ...this.#sums(this.#groups, false),
      sandbox: this.#sums(this.#sandbox, true),
      unaskingTools: this.#streams.tools(),
    };
  }

  #addGroups({ groups, sandbox }: DaySums): void {
    for (const [names, tally] of groups.all()) this.#groups.at(names).add(tally);
    for (const [names, tally] of sandbox.all()) this.#sandbox.at(names).add(tally);
  }

  #sums(groups: Groups, ofSandbox: boolean): Sums {
    const { by, prices } = this.#question;
    const total = new Tally(prices);
    const rows: ReportRow[] = [];
    const add = (names: Names, sums: Tally) => {
      total.add(sums);
      rows.push(rowOf(names, sums));
    };
    for (const [names, tally] of this.#rollups.tallies(ofSandbox)) {
      const others = groups.find(names);
      if (others === undefined) add(names, tally);
      else others.add(tally);
    }
    for (const [names, tally] of groups.all()) add(names, tally);
    return { rows: sortRows(by, rows), total: rowOf([], total) };

    function rowOf(names: Names, row: Tally): ReportRow {
      const costs = { names, sums: row, cost: row.spending.cost(prices) };
      return by.includes("miss") ? { ...costs, missed: row.missed?.cost(prices) ?? null } : costs;
    }
  }
}

/** Sums up records, given in the ledger's order. */
export function summarise(records: Iterable<SummableRecord>, question: ReportQuestion): UsageReport {
  const builder = new ReportBuilder(question);
  const sums = new DaySums(sumOptionsOf(question));
  for (const record of records) sums.add(record);
  builder.add(sums);
  return builder.finish();
}

/** Sorts by the first names, and the rows of each by the second. */
function sortRows(
  [first = "tool", second = "tool"]: readonly Grouping[],
  rows: readonly ReportRow[],
): ReportRow[] {
  const groups = new Map<string | null, ReportRow[]>();
  for (const row of rows) {
    const [name = null] = row.names;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  const sized = Array.from(groups, ([name, group]) => ({
    name,
    rows: group.toSorted((one, other) =>
      compare(second, { ...sizeOf([one]), name: one.names[1] }, { ...sizeOf([other]), name: other.names[1] }),
    ),
    ...sizeOf(group),
  }));
  return sized.toSorted((one, other) => compare(first, one, other)).flatMap(({ rows: sorted }) => sorted);
}

/** What decides which of two groups comes first. */
interface Sized {
  amount: Money;
  tokens: number;
  requests: number;
}

function sizeOf(rows: readonly ReportRow[]): Sized {
  return {
    amount: rows.reduce((sum, { cost }) => sum + cost.amount, 0n),
    tokens: rows.reduce((sum, { sums }) => sum + sumTokens(sums), 0),
    requests: rows.reduce((sum, { sums }) => sum + sums.requests, 0),
  };
}

interface Named extends Sized {
  name: string | null | undefined;
}

/** Times and windows: the latest first. Others: the largest first. */
function compare(grouping: Grouping, one: Named, other: Named): number {
  const byName = compareText(one.name ?? "", other.name ?? "");
  if (isTime(grouping) || grouping === "window") return -byName;
  if (one.amount !== other.amount) return one.amount > other.amount ? -1 : 1;
  return other.tokens - one.tokens || other.requests - one.requests || byName;
}

/** Compares by code unit, so that the order is the same on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
