import {
  areDeleted,
  areSame,
  coverAll,
  listDays,
  readRollup,
  visitDayUntil,
  type LedgerDay,
} from "../../adapters/ledger-file.ts";
import { BudgetBook, type EncodedBook } from "../../core/budget/book.ts";
import { needsRecords, spentInSums } from "../../core/budget/history.ts";
import type { BudgetSettings } from "../../core/budget/gauges.ts";
import type { BudgetState } from "../../core/budget/state.ts";
import { DAY_START, type DayPosition } from "../../core/ledger/after/cursor.ts";
import { CopyDetector } from "../../core/ledger/copies.ts";
import { dayAt, isCompressed } from "../../core/ledger/day.ts";
import type { Rollup, RollupSegment } from "../../core/ledger/rollup.ts";
import { spanOf } from "../../core/ledger/rollup/cuts.ts";
import { RollupSums } from "../../core/ledger/rollup/rollup-sums.ts";
import { blockOf, type SumBlock } from "../../core/ledger/rollup/sum-block.ts";
import { tellsPromptsApart, type RollupFile } from "../../core/ledger/rollup/rollup-text.ts";
import { NO_SLOTS } from "../../core/price/time-slots.ts";
import type { Place } from "../ledger-follower.ts";
import { budgetSettings, type BudgetConfig } from "./settings.ts";

/** What is to be counted. */
interface BudgetQuestion {
  config: BudgetConfig;
  state: BudgetState;
  /** The time by which windows open, in milliseconds since 1970. */
  now: number;
}

type Counting = Omit<BudgetQuestion, "config"> & Place;

/** Counts what was spent up to a place in the ledger. Rejects when that cannot be read. */
export async function countBudgets(question: BudgetQuestion, place: Place): Promise<EncodedBook> {
  const counter = new Counter({ ...question, ...place }, await budgetSettings(question.config, () => null));
  await counter.count();
  return counter.book.encode();
}

/** Counts what the ledger says was spent: by the sums of days where they are enough, and otherwise by records. */
export class Counter {
  readonly book: BudgetBook;
  readonly #question: Counting;
  readonly #settings: BudgetSettings;
  readonly #copies = new CopyDetector();
  /** Sums of days do not say of which project requests were. */
  readonly #isByProject: boolean;

  constructor(question: Counting, settings: BudgetSettings) {
    this.#question = question;
    this.#settings = settings;
    this.#isByProject = settings.budgets.some(({ scope }) => scope.kind === "project");
    this.book = new BudgetBook(settings, question.state, question.now);
  }

  /** Rejects when a day cannot be read. */
  async count(): Promise<void> {
    const { directory, now } = this.#question;
    const from = dayAt(this.book.neededSince(now));
    for (const day of listDays(directory, { from })) await this.#countDay(day);
  }

  /** A day whose records were deleted counts by its sums, and by the records that have arrived since. */
  async #countDay({ day, files, hasRollup }: LedgerDay): Promise<void> {
    const { directory, cursor } = this.#question;
    const until = cursor.days[day] ?? DAY_START;
    const file = hasRollup ? readRollup(directory, day) : null;
    if (file?.isIntact === true && areDeleted(file.files, files)) {
      this.#addRollup(file.read());
      if (coverAll(file.files, files)) return;
    } else if (endsAt(files, until) && this.#isEnough(file, files)) {
      this.#addRollup(file.read());
      return;
    }
    if (files.length > 0) await this.#addRecords(day, until);
  }

  #isEnough(file: RollupFile | null, files: LedgerDay["files"]): file is RollupFile {
    if (this.#isByProject || file?.isIntact !== true || !file.isCurrent) return false;
    if (!areSame(file.files, files)) return false;
    const { prices } = this.#settings;
    if (prices !== null && !tellsPromptsApart(file, prices.allLimits(), prices)) return false;
    const { day, segments } = file.read();
    return segments.every(
      ({ from }, at) =>
        !needsRecords(
          this.book,
          { from, until: segments[at + 1]?.from ?? spanOf(day).to },
          this.#question.now,
        ),
    );
  }

  #addRollup(rollup: Rollup): void {
    const block = blockOf("rollup", [rollup]);
    for (const segment of rollup.segments) {
      this.#addSegment(block, segment);
      for (const record of segment.background) this.book.add(record);
    }
  }

  #addSegment(block: SumBlock, { from }: RollupSegment): void {
    const { calendar, prices } = this.#settings;
    const slots = prices ?? NO_SLOTS;
    const sums = new RollupSums({ by: ["tool", "key"], calendar, prices: slots, filter: {} });
    sums.add({ block, since: from, until: from + 1 });
    for (const [[tool, key], tally] of sums.tallies(false)) {
      const spent = spentInSums(tally.encode(), prices);
      if (spent !== null) this.book.addSum({ tool: tool ?? "", key: key ?? "", project: null }, from, spent);
    }
  }

  #addRecords(day: string, until: DayPosition): Promise<void> {
    return visitDayUntil(this.#question.directory, day, until, (record) => {
      if (!this.#copies.isCopy(record)) this.book.add(record);
    });
  }
}

/** True for files that have nothing after a position, so that their sums are those of the records before it. */
function endsAt(files: LedgerDay["files"], { compressed, lines }: DayPosition): boolean {
  return files.every(({ name, bytes }) => bytes === (isCompressed(name) ? compressed : lines));
}
