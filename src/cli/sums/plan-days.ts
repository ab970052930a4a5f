import {
  areDeleted,
  areSame,
  coverAll,
  listDays,
  readRollup,
  type LedgerDay,
} from "../../adapters/ledger-file.ts";
import { calendarOf, type Calendar } from "../../core/ledger/calendar.ts";
import { dayAt, type RollupKind } from "../../core/ledger/day.ts";
import { isTime } from "../../core/ledger/grouping.ts";
import { insideOf, midnightsIn } from "../../core/ledger/rollup/cuts.ts";
import { RECORD_FILTERS } from "../../core/ledger/record-filter.ts";
import { tellsPromptsApart, type FileState, type RollupFile } from "../../core/ledger/rollup/rollup-text.ts";
import type { PriceSlots } from "../../core/price/spending.ts";
import { isInRollups } from "../../core/ledger/rollup/rollup-sums.ts";
import type { DayToRead, LedgerQuestion } from "./sum-day.ts";

/** The sums of a day, those with the least first. */
const KINDS: readonly RollupKind[] = ["rollup", "details"];

/** How often a day may be divided: a rollup serves so many time zones. */
const MOST_CUTS = 4;

/**
 * How a day is summed: by its rollup, or from its files (`DayToRead`). With `left` its records are deleted, so that the rollup is all
 * that is left: `damaged` if it cannot be read, and `undivided` if the day is not divided where the question asks for it.
 */
export type PlannedDay =
  | { day: string; rollup: Pick<RollupFile, "read">; left?: "divided" | "undivided" }
  | { day: string; left: "damaged" }
  | (DayToRead & { bytes: number });

/** Returns how each day of a period is summed, in their order. `slots` are those of the question's prices. */
export async function planDays(question: LedgerQuestion, slots: PriceSlots): Promise<PlannedDay[]> {
  const { directory, since, until } = question;
  const range = { from: dayAt(since), ...(until !== null && { to: dayAt(until - 1) }) };
  const planner = new Planner(question, slots, Date.now());
  return listDays(directory, range).flatMap((day) => planner.plan(day));
}

class Planner {
  readonly #question: LedgerQuestion;
  readonly #slots: PriceSlots;
  readonly #calendar: Calendar;
  readonly #now: number;
  /** The sums that have what is asked for; null if none have. */
  readonly #kind: RollupKind | null;
  readonly #isByTime: boolean;

  constructor(question: LedgerQuestion, slots: PriceSlots, now: number) {
    const { by, filter, zone } = question;
    this.#question = question;
    this.#slots = slots;
    this.#calendar = calendarOf(zone);
    this.#now = now;
    this.#isByTime = by.some(isTime);
    const asked = [...by, ...RECORD_FILTERS.filter((field) => filter[field] !== undefined)];
    this.#kind = KINDS.find((kind) => asked.every((one) => isInRollups(one, kind))) ?? null;
  }

  /** A day whose records were deleted is also read if others have arrived since. */
  plan({ day, files, hasRollup }: LedgerDay): PlannedDay[] {
    const file = hasRollup ? readRollup(this.#question.directory, day) : null;
    if (files.length === 0) return [this.#planLeft(day, file)];
    if (file !== null && areDeleted(file.files, files)) {
      const left = this.#planLeft(day, file);
      return coverAll(file.files, files) ? [left] : [left, this.#read(day, files, null)];
    }
    const isRollup = this.#kind !== "details";
    return [this.#planRecords(day, files, isRollup ? file : this.#readDetails(day))];
  }

  #readDetails(day: string): RollupFile | null {
    return readRollup(this.#question.directory, day, "details");
  }

  #planRecords(day: string, files: readonly FileState[], file: RollupFile | null): PlannedDay {
    if (this.#kind === null) return this.#read(day, files, null);
    const needed = this.#neededCuts(day);
    if (file !== null && isOf(file, files) && isDividedAt(file.cuts, needed) && this.#hasPrices(file))
      return { day, rollup: file };
    if (day >= dayAt(this.#now)) return this.#read(day, files, null);
    const cuts = [...new Set([...midnightsIn(day, this.#calendar), ...(file?.cuts ?? [])])].slice(
      0,
      MOST_CUTS,
    );
    return this.#read(day, files, isDividedAt(cuts, needed) ? cuts : null);
  }

  #read(day: string, files: readonly FileState[], cuts: readonly number[] | null): PlannedDay {
    return { day, cuts, kind: this.#kind ?? "rollup", bytes: sizeOf(files) };
  }

  #planLeft(day: string, file: RollupFile | null): PlannedDay {
    if (file?.isIntact !== true) return { day, left: "damaged" };
    return {
      day,
      rollup: file,
      left: isDividedAt(file.cuts, this.#neededCuts(day)) ? "divided" : "undivided",
    };
  }

  #hasPrices(file: RollupFile): boolean {
    return tellsPromptsApart(file, this.#question.limits, this.#slots);
  }

  /** Returns where a day has to be divided to answer the question. */
  #neededCuts(day: string): number[] {
    const { since, until } = this.#question;
    return [...insideOf(day, [since, until]), ...(this.#isByTime ? midnightsIn(day, this.#calendar) : [])];
  }
}

/** True for sums that are those of these files. */
function isOf(file: RollupFile, files: readonly FileState[]): boolean {
  return file.isCurrent && areSame(file.files, files) && file.isIntact;
}

function sizeOf(files: readonly FileState[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function isDividedAt(cuts: readonly number[], needed: readonly number[]): boolean {
  return needed.every((cut) => cuts.includes(cut));
}
