import { mondayOf, monthStart, type Calendar } from "../ledger/calendar.ts";
import type { BudgetPeriod, BudgetTerms } from "./kinds.ts";

const HOUR_MS = 3_600_000;
const QUARTER_MS = HOUR_MS / 4;

/** Times in milliseconds since 1970. */
export interface Window {
  /** What was spent from here on counts. */
  start: number;
  /** The window is the same from `from` until before `until`. */
  from: number;
  until: number;
}

/** The windows of a budget, and how finely spending is told apart in time. */
export interface Windows {
  /** Returns the window at a time. */
  at(time: number): Window;
  /** Returns the start of the cell of a time: spending in one cell is counted in the same windows. */
  cellOf(time: number): number;
  /** Returns when spending in a cell no longer counts. */
  endOf(cell: number): number;
  /** How many cells are remembered, the newest ones: more than a window has, in case that the clock is set back. */
  readonly rememberedCells: number;
}

export function windowsOf({ window }: Pick<BudgetTerms, "window">, calendar: Calendar): Windows {
  return "per" in window ? new CalendarWindows(window.per, calendar) : new RollingWindows(window.rolling);
}

/** Windows of the calendar, each a cell of its own. */
class CalendarWindows implements Windows {
  readonly rememberedCells = 48;
  readonly #find: (time: number) => Omit<Window, "from">;
  /** The two that were asked for last: at midnight, requests of both days end. */
  #last: Window = { start: 0, from: 0, until: 0 };
  #other: Window = this.#last;

  constructor(per: BudgetPeriod, calendar: Calendar) {
    this.#find = (time) => FIND[per](time, calendar);
  }

  at(time: number): Window {
    if (isIn(this.#last, time)) return this.#last;
    const found = isIn(this.#other, time) ? this.#other : this.#make(time);
    this.#other = this.#last;
    this.#last = found;
    return found;
  }

  cellOf(time: number): number {
    return this.at(time).start;
  }

  endOf(cell: number): number {
    return this.at(cell).until;
  }

  #make(time: number): Window {
    const { start, until } = this.#find(time);
    return { start, from: start, until };
  }
}

function isIn({ from, until }: Window, time: number): boolean {
  return time >= from && time < until;
}

const FIND: Record<BudgetPeriod, (time: number, calendar: Calendar) => Omit<Window, "from">> = {
  hour: findHour,
  day(time, calendar) {
    const day = calendar.dayOf(time);
    return { start: calendar.startOf(day), until: calendar.startOf(day, 1) };
  },
  week(time, calendar) {
    const monday = mondayOf(calendar.dayOf(time));
    return { start: calendar.startOf(monday), until: calendar.startOf(monday, 7) };
  },
  month(time, calendar) {
    const day = calendar.dayOf(time);
    return { start: calendar.startOf(monthStart(day)), until: calendar.startOf(monthStart(day, 1)) };
  },
};

/**
 * All the time at which clocks show the same hour of the same day: two hours where it comes twice, when they go back. They go forward and
 * back at full quarters of an hour, in every time zone.
 */
function findHour(time: number, calendar: Calendar): Omit<Window, "from"> {
  const hour = calendar.hourOf(time);
  let start = Math.floor(time / QUARTER_MS) * QUARTER_MS;
  let until = start + QUARTER_MS;
  while (calendar.hourOf(start - QUARTER_MS) === hour) start -= QUARTER_MS;
  while (calendar.hourOf(until) === hour) until += QUARTER_MS;
  return { start, until };
}

/** The longest rolling window whose steps are short. */
const SHORT_HOURS = 24;
const SHORT_STEP_MS = 5 * 60_000;
const LONG_STEP_MS = HOUR_MS;

/** How many cells of a rolling window are remembered besides those that count. */
const MORE_CELLS = 48;

/** A window of so many hours, which moves on in steps, so that memory is bounded. Spending counts up to a step longer, never shorter. */
class RollingWindows implements Windows {
  readonly rememberedCells: number;
  readonly #lengthMs: number;
  readonly #stepMs: number;

  constructor(hours: number) {
    this.#lengthMs = hours * HOUR_MS;
    this.#stepMs = hours <= SHORT_HOURS ? SHORT_STEP_MS : LONG_STEP_MS;
    this.rememberedCells = this.#lengthMs / this.#stepMs + MORE_CELLS;
  }

  at(time: number): Window {
    const start = this.cellOf(time - this.#lengthMs);
    const from = start + this.#lengthMs;
    return { start, from, until: from + this.#stepMs };
  }

  cellOf(time: number): number {
    return Math.floor(time / this.#stepMs) * this.#stepMs;
  }

  endOf(cell: number): number {
    return this.cellOf(cell) + this.#stepMs + this.#lengthMs;
  }
}
