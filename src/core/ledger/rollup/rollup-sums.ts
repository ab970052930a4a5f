import { SANDBOX_UPSTREAM } from "../../config/names.ts";
import { hasPlanLogin, isOwnUpstream, payerOf } from "../../plans/names.ts";
import { formatMoney, parseMoney, type Money } from "../../price/money.ts";
import type { Charge, PriceTerms } from "../../price/charge.ts";
import type { EncodedSpending, PriceSlots } from "../../price/spending.ts";
import type { Calendar } from "../calendar.ts";
import type { RollupKind } from "../day.ts";
import { isTime, timeName, type Grouping } from "../grouping.ts";
import type { Names } from "../groups.ts";
import type { RecordFilter } from "../record-filter.ts";
import { isFailure } from "../spend.ts";
import { COUNTS, Tally } from "../tally.ts";
import { ROLLUP_AXES } from "./axes.ts";
import { BlockNames } from "./block-names.ts";
import { ChargeTable, type PlacedCharge } from "./charge-table.ts";
import { RowNames } from "./row-names.ts";
import type { Column, SumBlock } from "./sum-block.ts";
import { isZero, SumTable } from "./sum-table.ts";
import { SumTimes } from "./sum-times.ts";

/** What rollups are summed for. */
interface RollupQuestion {
  by: readonly Grouping[];
  calendar: Calendar;
  prices: PriceSlots;
  filter: RecordFilter;
}

/** Sums of a day that are in a period: those of its parts that start from `since` on and before `until`. */
export interface RollupPart {
  block: SumBlock;
  since: number;
  until: number;
}

/**
 * Where a row has its reasoning, how many groups know theirs, and its requests that a plan paid, that were extra use of one, that a tool's own key paid, and
 * that failed midway. The counts are before them.
 */
const REASONING = COUNTS.length;
const KNOW_REASONING = REASONING + 1;
const PLAN_REQUESTS = REASONING + 2;
const EXTRA_REQUESTS = REASONING + 3;
const OWN_REQUESTS = REASONING + 4;
const FAILED_MIDWAY = REASONING + 5;

/** Where a row has each count. */
const AT = Object.fromEntries(COUNTS.map((name, at) => [name, at])) as Record<
  (typeof COUNTS)[number],
  number
>;

const NO_CHARGE: PlacedCharge = { terms: 0, at: 0, sums: new Float64Array(), tools: {} };

/** The row of what is in none. */
const NONE = -1;

/** True for what sums of a kind know of each request, or can be told from the time of its part. */
export function isInRollups(grouping: Grouping, kind: RollupKind = "rollup"): boolean {
  if (isTime(grouping)) return grouping !== "hour" || kind === "details";
  return grouping === "account" || (ROLLUP_AXES[kind] as readonly string[]).includes(grouping);
}

/** True for a part of a day that is in a period. */
export function isPartWanted({ block, since, until }: RollupPart, start: number): boolean {
  const from = block.starts[start] ?? NaN;
  return from >= since && from < until;
}

/**
 * Adds up the sums of many days for one question. A year has a million groups, and a report may have a hundred thousand rows. So columns
 * are added to columns, and a row becomes a tally when it is asked for.
 */
export class RollupSums {
  readonly #question: RollupQuestion;
  readonly #names: RowNames;
  readonly #sums = new SumTable(FAILED_MIDWAY + 1);
  readonly #billed = new Map<number, Money>();
  readonly #times = new SumTimes();
  readonly #charges: ChargeTable;
  /** Rows with misses of the cache: whether the charges for these are all of them. */
  readonly #missed = new Map<number, boolean>();

  constructor(question: RollupQuestion) {
    this.#question = question;
    this.#names = new RowNames(question.by.length);
    this.#charges = new ChargeTable(question.prices);
  }

  /** Returns what decides the price of charges, by its number. */
  termsAt(number: number): PriceTerms {
    return this.#charges.termsAt(number);
  }

  /** Adds the groups of a day. What of `background` and of the streams counts depends on other days, so it is not added. */
  add(part: RollupPart): void {
    const { sums, times } = part.block;
    const view = new BlockNames(part.block, this.#question);
    const rows = this.#rowsOf(part, view);
    for (const [at, name] of COUNTS.entries()) this.#sums.addColumn(at, rows, sums[name]);
    this.#addReasoning(rows, sums.reasoning);
    this.#addPayers(part.block, rows, view);
    this.#addFailures(view, part.block, rows);
    this.#addBills(part.block, rows);
    this.#charges.addBlock(part.block, (group, isMissed) => placeOf(rows[group] ?? NONE, isMissed));
    this.#addMissed(sums, rows);
    this.#times.add(rows, times);
  }

  /** Adds requests with the same names whose records were read. */
  addTally(isSandbox: boolean, names: Names, tally: Tally): void {
    const row = this.#rowAt(isSandbox, names);
    const sums = this.#sums.row(row);
    for (const [at, name] of COUNTS.entries()) sums[at] = (sums[at] ?? 0) + tally[name];
    const { reasoning, failedMidway, planRequests, extraRequests, ownRequests, spending, missed } =
      tally.encode();
    if (reasoning !== null) {
      sums[REASONING] = (sums[REASONING] ?? 0) + reasoning + 1;
      sums[KNOW_REASONING] = (sums[KNOW_REASONING] ?? 0) + 1;
    }
    sums[FAILED_MIDWAY] = (sums[FAILED_MIDWAY] ?? 0) + failedMidway;
    sums[PLAN_REQUESTS] = (sums[PLAN_REQUESTS] ?? 0) + planRequests;
    sums[EXTRA_REQUESTS] = (sums[EXTRA_REQUESTS] ?? 0) + extraRequests;
    sums[OWN_REQUESTS] = (sums[OWN_REQUESTS] ?? 0) + ownRequests;
    this.#addBill(row, spending.billed);
    for (const charge of spending.charges) this.#charges.add(placeOf(row, false), charge);
    for (const charge of missed?.charges ?? []) this.#charges.add(placeOf(row, true), charge);
    if (missed !== null) this.#missed.set(row, (this.#missed.get(row) ?? true) && missed.isWhole);
    this.#times.addTo(row, tally);
  }

  /** Yields the rows of the sandbox, or the others. */
  *rows(ofSandbox: boolean): Generator<number> {
    for (let row = 0; row < this.#names.size; row += 1)
      if (this.#names.isSandbox(row) === ofSandbox) yield row;
  }

  /** Returns the names of a row. */
  namesOf(row: number): Names {
    return this.#names.namesOf(row);
  }

  /** What rows are sorted by, besides what they cost. */
  get names(): Pick<RowNames, "size" | "firstOf" | "nameAt"> {
    return this.#names;
  }

  /** Returns how many requests a row has. */
  requestsOf(row: number): number {
    return this.#sums.all[row * this.#sums.width + AT.requests] ?? 0;
  }

  /** Returns how many tokens a row has. */
  tokensOf(row: number): number {
    const { all, width } = this.#sums;
    const first = row * width;
    const input =
      (all[first + AT.input_uncached] ?? 0) +
      (all[first + AT.cache_read] ?? 0) +
      (all[first + AT.cache_write] ?? 0);
    return input + (all[first + AT.output] ?? 0);
  }

  /** Returns what services said they charged for a row. */
  billedOf(row: number): Money {
    return this.#billed.get(row) ?? 0n;
  }

  /** Yields what all rows are charged for. It is one object, which is for the next charge then. */
  *charges(): Generator<{ row: number; charge: PlacedCharge }> {
    const found = { row: 0, charge: NO_CHARGE };
    for (const charge of this.#charges.all()) {
      if (charge.place % 2 !== 0) continue;
      found.row = charge.place / 2;
      found.charge = charge;
      yield found;
    }
  }

  /** Returns what a row is charged for. */
  chargesOf(row: number): PlacedCharge[] {
    return this.#charges.at(placeOf(row, false));
  }

  /** Returns a charge with its terms. */
  toCharge(charge: PlacedCharge): Charge {
    return this.#charges.toCharge(charge);
  }

  /** Returns the sums of a row. Its times and charges are read when they are asked for. */
  tallyOf(row: number): Tally {
    const tally = new Tally(this.#question.prices, {
      times: () => this.#times.of([row]),
      charged: () => ({
        spending: spendingOf(
          this.billedOf(row),
          this.chargesOf(row).map((charge) => this.toCharge(charge)),
        ),
        missed: this.#missedOf(row),
      }),
    });
    return this.#readCounts(tally, this.#sums.all, row * this.#sums.width);
  }

  /** Returns the sums of rows together. Their times and charges are read when they are asked for. */
  sumOf(rows: readonly number[]): Tally {
    const tally = new Tally(this.#question.prices, {
      times: () => this.#times.of(rows),
      charged: () => ({
        spending: spendingOf(
          rows.reduce((sum, row) => sum + this.billedOf(row), 0n),
          this.#charges.totalOf(rows.map((row) => placeOf(row, false))),
        ),
        missed: this.#missedOfAll(rows),
      }),
    });
    return this.#addCounts(tally, rows);
  }

  /** Yields the sums of each row, those of the sandbox or the others. */
  *tallies(ofSandbox: boolean): Generator<readonly [Names, Tally]> {
    for (const row of this.rows(ofSandbox)) yield [this.namesOf(row), this.tallyOf(row)];
  }

  /** Returns the row that each group of a day belongs to; negative where it belongs to none. */
  #rowsOf(part: RollupPart, view: BlockNames): Int32Array {
    const { group_names: namesOf, group_start: startOf } = part.block.sums;
    const { all: times, byStart } = this.#timesOf(part);
    const { keys, count } = view.keys();
    const known = new Int32Array(count * times.length).fill(NONE);
    const rows = new Int32Array(namesOf.length).fill(NONE);
    for (let at = 0; at < rows.length; at += 1) {
      const time = byStart[startOf[at] ?? 0] ?? NONE;
      const names = namesOf[at] ?? 0;
      if (time === NONE || !view.isAdmitted(names)) continue;
      const key = (keys[names] ?? 0) * times.length + time;
      let row = known[key] ?? NONE;
      if (row === NONE) known[key] = row = this.#rowIn(view, names, times[time] ?? []);
      rows[at] = row;
    }
    return rows;
  }

  /** Returns the names that the parts of a day have for groupings by time, each once, and which of them a part has. */
  #timesOf(part: RollupPart): { all: Names[]; byStart: number[] } {
    const { by, calendar } = this.#question;
    const { kind, starts } = part.block;
    const all: Names[] = [];
    const numbers = new Map<string, number>();
    const byStart = starts.map((start, at) => {
      if (!isPartWanted(part, at)) return NONE;
      const names = by.map((grouping) =>
        isTime(grouping) && isInRollups(grouping, kind) ? timeName(grouping, start, calendar) : null,
      );
      const key = names.join();
      const number = numbers.get(key) ?? all.push(names) - 1;
      numbers.set(key, number);
      return number;
    });
    return { all, byStart };
  }

  #rowIn(view: BlockNames, at: number, times: Names): number {
    const names = this.#question.by.map((grouping, place) => times[place] ?? view.nameOf(grouping, at));
    return this.#rowAt(view.nameOf("upstream", at) === SANDBOX_UPSTREAM, names);
  }

  #rowAt(isSandbox: boolean, names: Names): number {
    const row = this.#names.numberOf(isSandbox, names);
    this.#sums.grow(this.#names.size);
    return row;
  }

  /** Reasoning that is not known is no number to add. */
  #addReasoning(rows: Int32Array, reasoning: Column): void {
    const knowing = rows.map((row, at) => ((reasoning[at] ?? 0) > 0 ? row : NONE));
    this.#sums.addColumn(REASONING, knowing, reasoning);
    this.#sums.addColumn(KNOW_REASONING, knowing, new Uint8Array(rows.length).fill(1));
  }

  /** Only what the tool's own login or key paid is counted by who paid. */
  #addPayers({ sums, names, texts }: SumBlock, rows: Int32Array, view: BlockNames): void {
    if (!texts.some((text) => text !== null && (hasPlanLogin(text) || isOwnUpstream(text)))) return;
    const payers = Array.from({ length: names[0]?.length ?? 0 }, (_, at) =>
      payerOf(view.nameOf("upstream", at) ?? ""),
    );
    const paidBy = (payer: "plan" | "extra" | "own") =>
      rows.map((row, at) => (payers[sums.group_names[at] ?? 0] === payer ? row : NONE));
    this.#sums.addColumn(PLAN_REQUESTS, paidBy("plan"), sums.requests);
    this.#sums.addColumn(EXTRA_REQUESTS, paidBy("extra"), sums.requests);
    this.#sums.addColumn(OWN_REQUESTS, paidBy("own"), sums.requests);
  }

  #addFailures(view: BlockNames, { sums, names }: SumBlock, rows: Int32Array): void {
    const failed = Array.from({ length: names[0]?.length ?? 0 }, (_, at) =>
      isFailure(view.nameOf("outcome", at) ?? ""),
    );
    if (!failed.includes(true)) return;
    const those = rows.map((row, at) => (failed[sums.group_names[at] ?? 0] === true ? row : NONE));
    this.#sums.addColumn(FAILED_MIDWAY, those, sums.requests);
  }

  #addBills({ sums: { billed }, texts }: SumBlock, rows: Int32Array): void {
    if (isZero(billed)) return;
    for (const [at, row] of rows.entries()) {
      const text = texts[billed[at] ?? 0] ?? null;
      if (row !== NONE && text !== null) this.#addBill(row, text);
    }
  }

  #addBill(row: number, text: string): void {
    const billed = parseMoney(text) ?? 0n;
    if (billed > 0n) this.#billed.set(row, this.billedOf(row) + billed);
  }

  #addMissed({ missed_whole: whole }: SumBlock["sums"], rows: Int32Array): void {
    if (isZero(whole)) return;
    for (const [at, row] of rows.entries())
      if (row !== NONE && whole[at] !== 0)
        this.#missed.set(row, (this.#missed.get(row) ?? true) && whole[at] === 1);
  }

  /** Returns a tally with the counts of rows. */
  #addCounts(tally: Tally, rows: readonly number[]): Tally {
    const sums = new Float64Array(this.#sums.width);
    const { all } = this.#sums;
    for (const row of rows) {
      const first = row * sums.length;
      for (let at = 0; at < sums.length; at += 1) sums[at] = (sums[at] ?? 0) + (all[first + at] ?? 0);
    }
    return this.#readCounts(tally, sums, 0);
  }

  /** Returns a tally with the counts that begin there. Written out, because any loop over names takes longer than the rest of a row. */
  #readCounts(tally: Tally, sums: Float64Array, first: number): Tally {
    tally.requests = sums[first + AT.requests] ?? 0;
    tally.failed = sums[first + AT.failed] ?? 0;
    tally.input_uncached = sums[first + AT.input_uncached] ?? 0;
    tally.cache_read = sums[first + AT.cache_read] ?? 0;
    tally.cache_write = sums[first + AT.cache_write] ?? 0;
    tally.output = sums[first + AT.output] ?? 0;
    tally.reasoning_unknown = sums[first + AT.reasoning_unknown] ?? 0;
    tally.partial = sums[first + AT.partial] ?? 0;
    tally.absent = sums[first + AT.absent] ?? 0;
    tally.maybe_unbilled = sums[first + AT.maybe_unbilled] ?? 0;
    tally.cut = sums[first + AT.cut] ?? 0;
    tally.retries = sums[first + AT.retries] ?? 0;
    tally.refused = sums[first + AT.refused] ?? 0;
    tally.misses = sums[first + AT.misses] ?? 0;
    tally.miss_tokens = sums[first + AT.miss_tokens] ?? 0;
    const known = sums[first + KNOW_REASONING] ?? 0;
    // Each group has one more than it is.
    tally.reasoning = known === 0 ? null : (sums[first + REASONING] ?? 0) - known;
    tally.failed_midway = sums[first + FAILED_MIDWAY] ?? 0;
    tally.plan_requests = sums[first + PLAN_REQUESTS] ?? 0;
    tally.extra_requests = sums[first + EXTRA_REQUESTS] ?? 0;
    tally.own_requests = sums[first + OWN_REQUESTS] ?? 0;
    return tally;
  }

  #missedOf(row: number) {
    const isWhole = this.#missed.get(row);
    if (isWhole === undefined) return null;
    const charges = this.#charges.at(placeOf(row, true)).map((charge) => this.toCharge(charge));
    return { charges, isWhole };
  }

  #missedOfAll(rows: readonly number[]) {
    const missed = rows.filter((row) => this.#missed.has(row));
    if (missed.length === 0) return null;
    const charges = this.#charges.totalOf(missed.map((row) => placeOf(row, true)));
    return { charges, isWhole: missed.every((row) => this.#missed.get(row) === true) };
  }
}

function spendingOf(billed: Money, charges: readonly Charge[]): EncodedSpending {
  return { billed: formatMoney(billed), charges, leftOut: 0 };
}

/** Returns where a row has its charges, or those for its misses of the cache. */
function placeOf(row: number, isMissed: boolean): number {
  return row === NONE ? NONE : 2 * row + (isMissed ? 1 : 0);
}
