import { SANDBOX_UPSTREAM } from "../../config/names.ts";
import { isPlanUpstream } from "../../plans/names.ts";
import { TOKEN_CLASSES, type Charge, type PriceTerms, type TokenClass } from "../../price/charge.ts";
import { formatMoney, parseMoney, type Money } from "../../price/money.ts";
import { haveSameTerms, sizesWith } from "../../price/charge-sums.ts";
import type { PriceSlots } from "../../price/spending.ts";
import type { Calendar } from "../calendar.ts";
import type { RollupKind } from "../day.ts";
import { isTime, timeName, type Grouping } from "../grouping.ts";
import type { Names } from "../groups.ts";
import type { RecordFilter } from "../record-filter.ts";
import type { RollupTerms } from "../rollup.ts";
import { COUNTS, Tally, type EncodedTally } from "../tally.ts";
import { ROLLUP_AXES } from "./axes.ts";
import { BlockNames } from "./block-names.ts";
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

/** Where a row has its reasoning, how many groups know theirs, and its requests that a plan paid. The counts are before them. */
const REASONING = COUNTS.length;
const KNOW_REASONING = REASONING + 1;
const PLAN_REQUESTS = REASONING + 2;

/** What a charge has: its requests, and its tokens by their classes. */
const CHARGED = ["charge_requests", ...TOKEN_CLASSES.map(([name]) => `charged_${name}` as const)] as const;

/** Where the tokens of each class are among these. */
const CHARGED_AT = Object.fromEntries(TOKEN_CLASSES.map(([name], at) => [name, at + 1])) as Record<
  TokenClass,
  number
>;
const NO_CALLS: Charge["tools"] = {};

/** More than there are different terms: a row and its terms are one number. */
const MOST_TERMS = 2 ** 22;

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
 * Adds up the sums of many days for one question. A year has a million groups, so columns are added to columns, and become tallies at
 * the end.
 */
export class RollupSums {
  readonly #question: RollupQuestion;
  /** By their names, and whether they are of the sandbox. */
  readonly #rows = new Map<string, number>();
  readonly #names: { names: Names; isSandbox: boolean }[] = [];
  readonly #sums = new SumTable(PLAN_REQUESTS + 1);
  readonly #billed = new Map<number, Money>();
  readonly #times = new SumTimes();
  readonly #charges = new SumTable(CHARGED.length);
  /** Rows with misses of the cache: whether the charges for these are all of them. */
  readonly #missed = new Map<number, boolean>();
  /** By the place of a row's charges and the terms, in one number. */
  readonly #chargeRows = new Map<number, number>();
  /** Calls of tools, by the number of the charge. */
  readonly #calls = new Map<number, Record<string, number>>();
  readonly #terms: PriceTerms[] = [];
  /** By model. Each has so few that a search is faster than any key of all terms. */
  readonly #termNumbers = new Map<string | null, { slot: number; terms: PriceTerms; number: number }[]>();

  constructor(question: RollupQuestion) {
    this.#question = question;
  }

  /** Adds the groups of a day. What of `background` and of the streams counts depends on other days, so it is not added. */
  add(part: RollupPart): void {
    const { sums, times } = part.block;
    const view = new BlockNames(part.block, this.#question);
    const rows = this.#rowsOf(part, view);
    for (const [at, name] of COUNTS.entries()) this.#sums.addColumn(at, rows, sums[name]);
    this.#addReasoning(rows, sums.reasoning);
    this.#addPlanRequests(part.block, rows, view);
    this.#addBills(part.block, rows);
    this.#addCharges(part.block, rows);
    this.#addMissed(sums, rows);
    this.#times.add(rows, times);
  }

  /** Yields the sums of each row, those of the sandbox or the others. They are made one by one, because all of them take much memory. */
  *tallies(ofSandbox: boolean): Generator<readonly [Names, Tally]> {
    const keys = Float64Array.from(this.#chargeRows.keys()).sort();
    let next = 0;
    const chargesAt = (place: number) => {
      const charges: Charge[] = [];
      for (; Math.floor((keys[next] ?? Infinity) / MOST_TERMS) === place; next += 1)
        charges.push(this.#chargeOf(keys[next] ?? NaN));
      return charges;
    };
    for (const [row, { names, isSandbox }] of this.#names.entries()) {
      const [charges, missed] = [chargesAt(placeOf(row, false)), chargesAt(placeOf(row, true))];
      if (isSandbox !== ofSandbox) continue;
      const tally = new Tally(this.#question.prices);
      tally.addEncoded(this.#tallyAt(row, charges, missed));
      tally.ttft.addLater(() => this.#times.of(row).ttft);
      tally.speed.addLater(() => this.#times.of(row).speed);
      yield [names, tally];
    }
  }

  /** Returns the row that each group of a day belongs to; negative where it belongs to none. */
  #rowsOf(part: RollupPart, view: BlockNames): Int32Array {
    const { block } = part;
    const { group_names: namesOf, group_start: startOf } = block.sums;
    const { all: times, byStart } = this.#timesOf(part);
    const known = new Map<number, number>();
    const rows = new Int32Array(namesOf.length).fill(NONE);
    for (let at = 0; at < rows.length; at += 1) {
      const time = byStart[startOf[at] ?? 0] ?? NONE;
      const names = namesOf[at] ?? 0;
      if (time === NONE || !view.isAdmitted(names)) continue;
      const key = view.keyOf(names) * times.length + time;
      let row = known.get(key);
      if (row === undefined) known.set(key, (row = this.#rowAt(view, names, times[time] ?? [])));
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

  #rowAt(view: BlockNames, at: number, times: Names): number {
    const names = this.#question.by.map((grouping, place) => times[place] ?? view.nameOf(grouping, at));
    const isSandbox = view.nameOf("upstream", at) === SANDBOX_UPSTREAM;
    const key = JSON.stringify([isSandbox, names]);
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = this.#names.push({ names, isSandbox }) - 1;
      this.#rows.set(key, row);
      this.#sums.grow(row + 1);
    }
    return row;
  }

  /** Reasoning that is not known is no number to add. */
  #addReasoning(rows: Int32Array, reasoning: Column): void {
    const knowing = rows.map((row, at) => ((reasoning[at] ?? 0) > 0 ? row : NONE));
    this.#sums.addColumn(REASONING, knowing, reasoning);
    this.#sums.addColumn(KNOW_REASONING, knowing, new Uint8Array(rows.length).fill(1));
  }

  #addPlanRequests({ sums, names, texts }: SumBlock, rows: Int32Array, view: BlockNames): void {
    if (!texts.some((text) => text !== null && isPlanUpstream(text))) return;
    const isPlan = Array.from({ length: names[0]?.length ?? 0 }, (_, at) =>
      isPlanUpstream(view.nameOf("upstream", at) ?? ""),
    );
    const paid = rows.map((row, at) => (isPlan[sums.group_names[at] ?? 0] === true ? row : NONE));
    this.#sums.addColumn(PLAN_REQUESTS, paid, sums.requests);
  }

  #addBills({ sums: { billed }, texts }: SumBlock, rows: Int32Array): void {
    if (isZero(billed)) return;
    for (const [at, row] of rows.entries()) {
      const text = texts[billed[at] ?? 0] ?? null;
      if (row === NONE || text === null) continue;
      this.#billed.set(row, (this.#billed.get(row) ?? 0n) + (parseMoney(text) ?? 0n));
    }
  }

  #addCharges({ sums, terms, tools }: SumBlock, rows: Int32Array): void {
    const numbers = terms.map((one) => this.#numberOf(one));
    const charged = new Int32Array(sums.terms.length).fill(NONE);
    let next = 0;
    for (const [group, row] of rows.entries()) {
      const missedAt = next + (sums.charges[group] ?? 0);
      const end = missedAt + (sums.missed[group] ?? 0);
      if (row !== NONE)
        for (let at = next; at < end; at += 1)
          charged[at] = this.#chargeRowOf(placeOf(row, at >= missedAt), numbers[sums.terms[at] ?? 0] ?? 0);
      next = end;
    }
    for (const [at, name] of CHARGED.entries()) this.#charges.addColumn(at, charged, sums[name]);
    if (tools.length > 1)
      for (const [at, charge] of charged.entries())
        if (charge !== NONE) this.#addCalls(charge, tools[sums.tools[at] ?? 0] ?? {});
  }

  #addMissed({ missed_whole: whole }: SumBlock["sums"], rows: Int32Array): void {
    if (isZero(whole)) return;
    for (const [at, row] of rows.entries())
      if (row !== NONE && whole[at] !== 0)
        this.#missed.set(row, (this.#missed.get(row) ?? true) && whole[at] === 1);
  }

  #chargeRowOf(place: number, terms: number): number {
    const key = place * MOST_TERMS + terms;
    let number = this.#chargeRows.get(key);
    if (number === undefined) {
      number = this.#chargeRows.size;
      this.#chargeRows.set(key, number);
      this.#charges.grow(number + 1);
    }
    return number;
  }

  #addCalls(charge: number, more: Charge["tools"]): void {
    for (const [name, calls] of Object.entries(more)) {
      // Without a prototype, whatever the names of the tools are.
      const all = this.#calls.get(charge) ?? (Object.create(null) as Record<string, number>);
      all[name] = (all[name] ?? 0) + calls;
      this.#calls.set(charge, all);
    }
  }

  /** Returns the same number for terms that have the same prices. */
  #numberOf(encoded: RollupTerms): number {
    const { prices } = this.#question;
    const terms = decodeTerms(encoded);
    const { upstream, model, ts } = terms;
    if (model !== null) Object.assign(terms, sizesWith(prices.limitsOf(upstream, model), terms));
    const slot = model === null ? 0 : prices.slotOf(upstream, model, ts);
    let known = this.#termNumbers.get(model);
    if (known === undefined) this.#termNumbers.set(model, (known = []));
    const found = known.find((one) => one.slot === slot && haveSameTerms(one.terms, terms));
    if (found !== undefined) return found.number;
    const number = this.#terms.push(terms) - 1;
    known.push({ slot, terms, number });
    return number;
  }

  #chargeOf(key: number): Charge {
    const terms = this.#terms[key % MOST_TERMS];
    const number = this.#chargeRows.get(key);
    if (terms === undefined || number === undefined) throw new Error("a charge has terms");
    const sums = this.#charges.row(number);
    return {
      terms,
      requests: sums[0] ?? 0,
      tokens: toTokens(sums),
      tools: this.#calls.get(number) ?? NO_CALLS,
    };
  }

  /** Returns the sums of a row without its times. */
  #tallyAt(row: number, charges: readonly Charge[], missed: readonly Charge[]): EncodedTally {
    const sums = this.#sums.row(row);
    const known = sums[KNOW_REASONING] ?? 0;
    const isWhole = this.#missed.get(row);
    return {
      counts: [...sums.subarray(0, REASONING)],
      // Each group has one more than it is.
      reasoning: known === 0 ? null : (sums[REASONING] ?? 0) - known,
      planRequests: sums[PLAN_REQUESTS] ?? 0,
      ttft: "",
      speed: "",
      spending: {
        billed: formatMoney(this.#billed.get(row) ?? 0n),
        leftOut: 0,
        charges,
      },
      missed: isWhole === undefined ? null : { charges: missed, isWhole },
    };
  }
}

/** Returns the tokens of a charge. Written out, because any loop takes longer than the rest of a row. */
function toTokens(sums: Float64Array): Charge["tokens"] {
  return {
    input_uncached: sums[CHARGED_AT.input_uncached] ?? 0,
    cache_read: sums[CHARGED_AT.cache_read] ?? 0,
    cache_write_5m: sums[CHARGED_AT.cache_write_5m] ?? 0,
    cache_write_30m: sums[CHARGED_AT.cache_write_30m] ?? 0,
    cache_write_1h: sums[CHARGED_AT.cache_write_1h] ?? 0,
    cache_write_12h: sums[CHARGED_AT.cache_write_12h] ?? 0,
    cache_write_ttl_unknown: sums[CHARGED_AT.cache_write_ttl_unknown] ?? 0,
    output: sums[CHARGED_AT.output] ?? 0,
  };
}

/** Returns where a row has its charges, or those for its misses of the cache. */
function placeOf(row: number, isMissed: boolean): number {
  return 2 * row + (isMissed ? 1 : 0);
}

function decodeTerms([
  upstream,
  model,
  ts,
  tier,
  speed,
  geo,
  [least, most],
  isSum,
  isOwn,
  certainty,
  media,
]: RollupTerms): PriceTerms {
  return { upstream, model, ts, tier, speed, geo, least, most, isSum, isOwn, certainty, media };
}
