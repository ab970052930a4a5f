import {
  areDeleted,
  areSame,
  coverAll,
  listDays,
  readRollup,
  type LedgerDay,
} from "../../adapters/ledger-file.ts";
import { readDetails } from "../../adapters/ledger-file/closed-days.ts";
import { calendarOf, type Calendar } from "../../core/ledger/calendar.ts";
import { dayAt, monthOf, type RollupKind } from "../../core/ledger/day.ts";
import { isTime } from "../../core/ledger/grouping.ts";
import { hoursIn, insideOf, midnightsIn } from "../../core/ledger/rollup/cuts.ts";
import { RECORD_FILTERS } from "../../core/ledger/record-filter.ts";
import {
  tellsPromptsApart,
  type FileState,
  type RollupFile,
  type SumsFile,
} from "../../core/ledger/rollup/rollup-text.ts";
import type { SumBlock } from "../../core/ledger/rollup/sum-block.ts";
import type { PriceSlots } from "../../core/price/spending.ts";
import { isInRollups } from "../../core/ledger/rollup/rollup-sums.ts";
import { MonthPlanner } from "./plan-months.ts";
import type { DayToRead, LedgerQuestion } from "./sum-day.ts";

/** The sums of a day, those with the least first. */
const KINDS: readonly RollupKind[] = ["rollup", "details"];

/** How often a day may be divided in its rollup, which serves so many time zones. */
const MOST_CUTS = 4;

/**
 * How a day is summed: by its rollup, as all days up to `last`, by its details, or from its files (`DayToRead`). With `left` its records are
 * deleted, so that the rollup is all that is left: `damaged` if it cannot be read, and `undivided` if the day is not divided where the
 * question asks for it.
 */
export type PlannedDay =
  | PlannedRollups
  | { day: string; details: ClosedSums }
  | { day: string; left: "damaged" }
  | (DayToRead & { bytes: number });

interface PlannedRollups {
  day: string;
  last: string;
  rollups: Pick<RollupFile, "read">[];
  left: "divided" | "undivided" | null;
}

/** Sums of days, which are read when they are asked for. */
export interface ClosedSums {
  blocks(): Iterable<SumBlock>;
}

/** Returns how each day of a period is summed, in their order. `slots` are those of the question's prices. */
export async function planDays(question: LedgerQuestion, slots: PriceSlots): Promise<PlannedDay[]> {
  const { directory, since, until } = question;
  const range = { from: dayAt(since), ...(until !== null && { to: dayAt(until - 1) }) };
  const planner = new Planner(question, slots, Date.now());
  const planned: PlannedDay[] = [];
  for (const day of monthsOf(listDays(directory, range)).flatMap((days) => planner.planMonth(days))) {
    const before = planned.at(-1);
    if (before !== undefined && "rollups" in before && "rollups" in day && before.left === day.left) {
      before.rollups.push(...day.rollups);
      before.last = day.last;
    } else planned.push(day);
  }
  return planned;
}

/** Returns the days of each month. */
function monthsOf(days: readonly LedgerDay[]): LedgerDay[][] {
  const months = new Map<string, LedgerDay[]>();
  for (const one of days) {
    const month = monthOf(one.day);
    const known = months.get(month);
    if (known === undefined) months.set(month, [one]);
    else known.push(one);
  }
  return [...months.values()];
}

class Planner {
  readonly #question: LedgerQuestion;
  readonly #slots: PriceSlots;
  readonly #calendar: Calendar;
  readonly #now: number;
  /** Those that have what is asked for; none for windows of services' limits, which begin at any time. */
  readonly #kinds: readonly RollupKind[];
  readonly #isByTime: boolean;
  readonly #months: MonthPlanner;

  constructor(question: LedgerQuestion, slots: PriceSlots, now: number) {
    const { by, filter, zone } = question;
    this.#question = question;
    this.#slots = slots;
    this.#calendar = calendarOf(zone);
    this.#now = now;
    this.#isByTime = by.some(isTime);
    const asked = [...by, ...RECORD_FILTERS.filter((field) => filter[field] !== undefined)];
    this.#kinds = KINDS.filter((kind) => asked.every((one) => isInRollups(one, kind)));
    this.#months = new MonthPlanner(question, slots, this.#calendar, now);
  }

  /** Returns how the days of a month are summed: together if their rollups have what is asked for. */
  planMonth(days: readonly LedgerDay[]): PlannedDay[] {
    let planned: PlannedDay[] | null = null;
    const planOnce = () => (planned ??= days.flatMap((one) => this.#plan(one)));
    const month = this.#kinds.includes("rollup")
      ? this.#months.plan(days, () => rollupsOf(planOnce()))
      : null;
    const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""];
    return month === null ? planOnce() : [{ day: first, last, rollups: [month], left: null }];
  }

  /** A day whose records were deleted is also read if others have arrived since. */
  #plan({ day, files, hasRollup }: LedgerDay): PlannedDay[] {
    const file = hasRollup ? readRollup(this.#question.directory, day) : null;
    if (files.length === 0) return [this.#planLeft(day, file)];
    if (file !== null && areDeleted(file.files, files)) {
      const left = this.#planLeft(day, file);
      return coverAll(file.files, files) ? [left] : [left, this.#read(day, files, null)];
    }
    return [this.#planRecords(day, files, file)];
  }

  #planRecords(day: string, files: readonly FileState[], rollup: RollupFile | null): PlannedDay {
    const needed = this.#neededCuts(day);
    const isClosed = day < dayAt(this.#now);
    for (const kind of this.#kinds) {
      const found = kind === "rollup" ? rollup : readDetails(this.#question.directory, day);
      const file = found !== null && isOf(found, files) ? found : null;
      if (file !== null && isDividedAt(file.cuts, needed) && this.#hasPrices(file))
        return "read" in file ? { day, last: day, rollups: [file], left: null } : { day, details: file };
      const cuts = this.#wantedCuts(day, kind, file?.cuts ?? []);
      if (isClosed && isDividedAt(cuts, needed)) return this.#read(day, files, { kind, cuts });
    }
    return this.#read(day, files, null);
  }

  /** Returns where a day is to be divided by its sums. `known` is where it is divided already. */
  #wantedCuts(day: string, kind: RollupKind, known: readonly number[]): number[] {
    if (kind === "details") return hoursIn(day, this.#calendar, [...this.#edgesIn(day), ...known]) ?? [];
    return [...new Set([...midnightsIn(day, this.#calendar), ...known])].slice(0, MOST_CUTS);
  }

  #read(day: string, files: readonly FileState[], sums: DayToRead["sums"]): PlannedDay {
    return { day, sums, bytes: sizeOf(files) };
  }

  #planLeft(day: string, file: RollupFile | null): PlannedDay {
    if (file?.isIntact !== true) return { day, left: "damaged" };
    return {
      day,
      last: day,
      rollups: [file],
      left: isDividedAt(file.cuts, this.#neededCuts(day)) ? "divided" : "undivided",
    };
  }

  #hasPrices(file: SumsFile): boolean {
    return tellsPromptsApart(file, this.#question.limits, this.#slots);
  }

  /** Returns where a day has to be divided to answer the question; null where it cannot be. */
  #neededCuts(day: string): readonly number[] | null {
    const edges = this.#edgesIn(day);
    if (this.#question.by.includes("hour")) return hoursIn(day, this.#calendar, edges);
    return this.#isByTime ? [...edges, ...midnightsIn(day, this.#calendar)] : edges;
  }

  /** Returns where the period begins or ends during a day. */
  #edgesIn(day: string): number[] {
    return insideOf(day, [this.#question.since, this.#question.until]);
  }
}

/** Returns the rollups of days; null if one of them is summed in another way. */
function rollupsOf(planned: readonly PlannedDay[]): PlannedRollups["rollups"] | null {
  const rollups = planned.flatMap((day) => ("rollups" in day && day.left === null ? day.rollups : []));
  return rollups.length === planned.length ? rollups : null;
}

/** True for sums that are those of these files. */
function isOf(file: SumsFile, files: readonly FileState[]): boolean {
  return file.isCurrent && areSame(file.files, files) && file.isIntact;
}

function sizeOf(files: readonly FileState[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function isDividedAt(cuts: readonly number[], needed: readonly number[] | null): boolean {
  return needed?.every((cut) => cuts.includes(cut)) === true;
}
