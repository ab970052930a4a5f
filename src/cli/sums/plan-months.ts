import type { LedgerDay } from "../../adapters/ledger-file.ts";
import { makeMonth, readMonth, wholeMonth } from "../../adapters/ledger-file/closed-days.ts";
import { addDays, monthStart, type Calendar } from "../../core/ledger/calendar.ts";
import { isClosed, monthOf } from "../../core/ledger/day.ts";
import { isTime } from "../../core/ledger/grouping.ts";
import { tellsPromptsApart, type RollupFile } from "../../core/ledger/rollup/rollup-text.ts";
import type { PriceSlots } from "../../core/price/spending.ts";
import type { LedgerQuestion } from "./sum-day.ts";

/** The rollups of a month's days; null if some of its days have none that answer the question. */
type ReadRollups = () => readonly Pick<RollupFile, "read">[] | null;

/** Finds the months of a question that are summed by the month, and not day by day. */
export class MonthPlanner {
  readonly #question: LedgerQuestion;
  readonly #slots: PriceSlots;
  readonly #calendar: Calendar;
  readonly #now: number;

  constructor(question: LedgerQuestion, slots: PriceSlots, calendar: Calendar, now: number) {
    this.#question = question;
    this.#slots = slots;
    this.#calendar = calendar;
    this.#now = now;
  }

  /** Returns the sums of a month, which are made if there are none; null where its days have to be summed one by one. */
  plan(days: readonly LedgerDay[], readRollups: ReadRollups): Pick<RollupFile, "read"> | null {
    const month = monthOf(days[0]?.day ?? "");
    if (!this.#isAsked(month)) return null;
    const { directory, limits } = this.#question;
    const whole = wholeMonth(directory, month, days);
    if (whole === null) return null;
    const known = readMonth(directory, whole);
    if (known?.hasPrices(this.#slots) === true && tellsPromptsApart(known, limits, this.#slots)) return known;
    const rollups = readRollups()?.map((file) => file.read());
    if (rollups === undefined) return null;
    const { file, write } = makeMonth(directory, whole, { rollups, slots: this.#slots });
    if (file === null || !tellsPromptsApart(file, limits, this.#slots)) return null;
    write();
    return file;
  }

  /** True for a month that is over, and whole in the period. By time, only a calendar will do whose month it is. */
  #isAsked(month: string): boolean {
    const { by, since, until } = this.#question;
    const [first, next] = [monthStart(month), monthStart(month, 1)];
    const [from, to] = [Date.parse(first), Date.parse(next)];
    if (since > from || (until !== null && until < to) || !isClosed(addDays(next, -1), this.#now))
      return false;
    const times = by.filter(isTime);
    const isOfCalendar = () => this.#calendar.startOf(first) === from && this.#calendar.startOf(next) === to;
    return times.length === 0 || (times.every((grouping) => grouping === "month") && isOfCalendar());
  }
}
