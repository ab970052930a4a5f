import type { Budget } from "./budget.ts";
import { amountOf, type Spent } from "./spent.ts";
import type { Reset } from "./state.ts";
import type { Window, Windows } from "./windows.ts";

/** What was spent in one cell of time. */
interface Cell {
  known: bigint;
  assumed: bigint;
  /** The part of `assumed` that is for want of a price, by model; null where there is none. */
  unpriced: Map<string, bigint> | null;
}

/** When a spent budget opens again, and what it was found by. */
interface Opening {
  window: Window;
  spent: bigint;
  amount: bigint;
  at: number | null;
}

/** {@link Gauge} as data that JSON can represent. */
export interface EncodedGauge {
  id: string;
  /** Nothing before this time is in the cells. */
  knownSince: number;
  cells: readonly EncodedCell[];
}

type EncodedCell = readonly [
  start: number,
  known: string,
  assumed: string,
  unpriced?: readonly (readonly [model: string, assumed: string])[],
];

/** How many models without a price are kept apart in a cell: a client could name ever new ones (SECURITY.md E3). */
const MAX_MODELS = 20;

/**
 * Counts what is spent of one budget. A request counts at the time of its record, when it arrived, and in the window of the present time
 * counts all that was spent since the window's start: also what is dated later than now. So a clock that is set back gives nothing
 * back, and what was spent while it was ahead counts now, and again in the window that it was dated in.
 *
 * Times are in milliseconds since 1970; `now` is that of a `BudgetClock`.
 */
export class Gauge {
  budget: Budget;
  /** What running requests are reserved for, in the unit of the budget. */
  reserved = 0n;
  /** How many of them are reserved for by what is usual. */
  usual = 0;
  readonly windows: Windows;
  readonly #cells = new Map<number, Cell>();
  #knownSince: number;
  #reset: Reset | null = null;
  #window: Window = NO_WINDOW;
  /** The time at which the sums were made, which are those of the window. */
  #turnedAt = 0;
  /** What was found last. */
  #opening: Opening | null = null;
  #known = 0n;
  #assumed = 0n;

  /** Nothing before `knownSince` is counted. */
  constructor(budget: Budget, windows: Windows, knownSince: number) {
    this.budget = budget;
    this.windows = windows;
    this.#knownSince = knownSince;
  }

  /** False for a time of which nothing is counted any more, and for that of a damaged record, which no calendar may have. */
  remembers(time: number): boolean {
    return time >= this.#knownSince && time < END_OF_TIME;
  }

  /** Adds what a request of a time spent, or takes it back. */
  add(time: number, { known, assumed, unpriced }: Spent, sign: 1n | -1n = 1n): void {
    const { budget } = this;
    if (!this.remembers(time)) return;
    const start = this.cellOf(time);
    let cell = this.#cells.get(start);
    if (cell === undefined) this.#cells.set(start, (cell = { known: 0n, assumed: 0n, unpriced: null }));
    const more = { known: sign * amountOf(budget, known), assumed: sign * amountOf(budget, assumed) };
    if ("usd" in budget.limit) for (const [model, amount] of unpriced) addModel(cell, model, sign * amount);
    cell.known += more.known;
    cell.assumed += more.assumed;
    this.#addToSums(start, more);
    if (this.#cells.size > 2 * this.windows.rememberedCells) this.#forget();
  }

  /** Returns the start of the cell of a time. A reset begins a cell. */
  cellOf(time: number): number {
    const start = this.windows.cellOf(time);
    const at = this.#reset?.at ?? -Infinity;
    return at > start && at <= time ? at : start;
  }

  /**
   * True when the budget refuses requests: as much as the limit is spent, or reserved for what is running.
   * @param asked what a batch may spend, which has to fit; null for a single request
   */
  refuses(now: number, asked: bigint | null): boolean {
    if (this.budget.action !== "refuse") return false;
    const used = this.spent(now) + this.reserved;
    return used >= this.budget.amount || used + (asked ?? 0n) > this.budget.amount;
  }

  /** Returns how much of the limit is spent, rounded down. */
  percent(now: number): number {
    const { amount } = this.budget;
    return amount === 0n ? 100 : Number((this.spent(now) * 100n) / amount);
  }

  /** Returns what counts in the window of a time. */
  spent(now: number): bigint {
    this.#turn(now);
    return this.budget.unpriced === "allow" ? this.#known : this.#known + this.#assumed;
  }

  /** Returns how much of {@link spent} is assumed, not known. */
  assumed(now: number): bigint {
    this.#turn(now);
    return this.budget.unpriced === "allow" ? 0n : this.#assumed;
  }

  /** Returns the models whose prices are assumed, and how much of {@link assumed} is theirs, the most first. */
  unpriced(now: number): [model: string, assumed: bigint][] {
    this.#turn(now);
    if (this.budget.unpriced === "allow") return [];
    const sums = new Map<string, bigint>();
    for (const [start, { unpriced }] of this.#cells)
      if (unpriced !== null && this.#counts(start, now))
        for (const [model, amount] of unpriced) sums.set(model, (sums.get(model) ?? 0n) + amount);
    return [...sums].filter(([, amount]) => amount > 0n).sort(([, a], [, b]) => (a < b ? 1 : -1));
  }

  /** Returns the window of a time. It may start later than those of the calendar: with the first moment after a reset. */
  window(now: number): Window {
    this.#turn(now);
    return this.#window;
  }

  /** True when all records since the start of the window have been counted; else the count may be too small. */
  isWhole(now: number): boolean {
    return this.window(now).start >= this.#knownSince;
  }

  /** Returns when less than the limit will have been spent, if nothing more is; null if never. */
  opensAt(now: number): number | null {
    const spent = this.spent(now);
    const { amount } = this.budget;
    if (spent < amount) return now;
    const last = this.#opening;
    // A tool that was refused may ask again and again.
    if (last?.window === this.#window && last.spent === spent && last.amount === amount) return last.at;
    const at = this.#findOpening(now);
    this.#opening = { window: this.#window, spent, amount, at };
    return at;
  }

  #findOpening(now: number): number | null {
    const counted = [...this.#cells].filter(([start]) => this.#counts(start, now)).sort(([a], [b]) => a - b);
    let left = this.spent(now);
    for (const [start, cell] of counted) {
      left -= this.budget.unpriced === "allow" ? cell.known : cell.known + cell.assumed;
      if (left < this.budget.amount) return this.#endOf(start, now);
    }
    return null;
  }

  /** Lets the window start with a time. */
  reset(reset: Reset): void {
    this.#reset = reset;
    this.#window = NO_WINDOW;
  }

  /** Returns the start of the latest cell. */
  latest(): number {
    return Math.max(0, ...this.#cells.keys());
  }

  encode(): EncodedGauge {
    const cells = Array.from(this.#cells, ([start, { known, assumed, unpriced }]): EncodedCell => {
      const sums = [start, known.toString(), assumed.toString()] as const;
      if (unpriced === null) return sums;
      return [...sums, Array.from(unpriced, ([model, amount]) => [model, amount.toString()] as const)];
    });
    return { id: this.budget.id, knownSince: this.#knownSince, cells };
  }

  /** Replaces the count by what another one was encoded to. */
  replace({ knownSince, cells }: EncodedGauge): void {
    this.#knownSince = knownSince;
    this.#cells.clear();
    for (const [start, known, assumed, models] of cells) {
      const unpriced =
        models === undefined ? null : new Map(models.map(([model, amount]) => [model, BigInt(amount)]));
      this.#cells.set(start, { known: BigInt(known), assumed: BigInt(assumed), unpriced });
    }
    this.#window = NO_WINDOW;
  }

  #turn(now: number): void {
    if (now >= this.#window.from && now < this.#window.until) return;
    this.#window = this.#windowAt(now);
    this.#turnedAt = now;
    this.#known = 0n;
    this.#assumed = 0n;
    for (const [start, { known, assumed }] of this.#cells)
      if (this.#counts(start, now)) {
        this.#known += known;
        this.#assumed += assumed;
      } else if (start > now) this.#window.until = Math.min(this.#window.until, start);
  }

  #windowAt(now: number): Window {
    const window = { ...this.windows.at(now) };
    const at = this.#reset?.at ?? -Infinity;
    if (at > now) window.until = Math.min(window.until, at);
    else if (at > window.start) {
      window.start = at;
      window.from = Math.max(window.from, at);
    }
    return window;
  }

  /** True for a cell that counts in the present window. What was dated ahead of the clock when a reset was made waits for its time. */
  #counts(start: number, now: number): boolean {
    const reset = this.#reset;
    const isForgiven = reset !== null && reset.at <= now && start > now && start <= reset.ahead;
    return start >= this.#window.start && !isForgiven;
  }

  /** Returns when a cell no longer counts. A reset is still to come after the clock was set back. */
  #endOf(start: number, now: number): number {
    const end = this.windows.endOf(start);
    const at = this.#reset?.at ?? -Infinity;
    return at > now && at > start ? Math.min(end, at) : end;
  }

  #addToSums(start: number, { known, assumed }: Pick<Cell, "known" | "assumed">): void {
    if (start < this.#window.start) return;
    if (start > this.#turnedAt && this.#reset !== null) this.#window = NO_WINDOW;
    this.#known += known;
    this.#assumed += assumed;
  }

  /** Forgets the oldest cells. By their number and not by the clock, which may be ahead. */
  #forget(): void {
    const starts = [...this.#cells.keys()].sort((a, b) => b - a);
    const forgotten = starts.slice(this.windows.rememberedCells);
    for (const start of forgotten) this.#cells.delete(start);
    this.#knownSince = starts[this.windows.rememberedCells - 1] ?? this.#knownSince;
    this.#window = NO_WINDOW;
  }
}

function addModel(cell: Cell, model: string, amount: bigint): void {
  const models = (cell.unpriced ??= new Map());
  const known = models.get(model);
  if (known !== undefined || models.size < MAX_MODELS) models.set(model, (known ?? 0n) + amount);
}

/** Before the year 10000, whose days are not written as those of a `Calendar`. */
const END_OF_TIME = Date.UTC(9999, 11, 31);

const NO_WINDOW: Window = { start: 0, from: 0, until: 0 };
