import {
  areDeleted,
  areSame,
  coverAll,
  listDays,
  readRollup,
  visitDay,
  type LedgerDay,
} from "../../adapters/ledger-file.ts";
import { BudgetBook } from "../../core/budget/book.ts";
import { needsRecords, spentInSums } from "../../core/budget/history.ts";
import type { BudgetSettings } from "../../core/budget/meters.ts";
import { CopyDetector } from "../../core/ledger/copies.ts";
import { dayAt } from "../../core/ledger/day.ts";
import { DaySums } from "../../core/ledger/day-sums.ts";
import type { Rollup, RollupSegment } from "../../core/ledger/rollup.ts";
import { spanOf } from "../../core/ledger/rollup/cuts.ts";
import { RollupSums } from "../../core/ledger/rollup/rollup-sums.ts";
import { tellsPromptsApart, type RollupFile } from "../../core/ledger/rollup/rollup-text.ts";
import { NO_SLOTS } from "../../core/price/time-slots.ts";
import type { CountQuestion } from "./count.ts";

/** A record is written when its exchange ends, so one that ended earlier than this was there before the question. */
const MARGIN_MS = 60_000;

/** Counts what the ledger says was spent: by the sums of days where they are enough, and otherwise by records. */
export class Counter {
  readonly book: BudgetBook;
  /** Ids of the records that may have been written since the question. */
  readonly lastIds: string[] = [];
  readonly #question: Omit<CountQuestion, "config">;
  readonly #settings: BudgetSettings;
  readonly #copies = new CopyDetector();
  /** Sums of days do not say of which project requests were. */
  readonly #isByProject: boolean;

  constructor(question: Omit<CountQuestion, "config">, settings: BudgetSettings) {
    this.#question = question;
    this.#settings = settings;
    this.#isByProject = settings.budgets.some(({ scope }) => scope.kind === "project");
    this.book = new BudgetBook(settings, question.state, question.now);
  }

  /** Rejects when a day cannot be read. */
  async count(): Promise<void> {
    const { directory, now } = this.#question;
    const from = dayAt(this.book.neededSince(now));
    for (const day of await listDays(directory, { from })) await this.#countDay(day);
  }

  /** A day whose records were deleted counts by its sums, and by the records that have arrived since. */
  async #countDay({ day, files, hasRollup }: LedgerDay): Promise<void> {
    const file = hasRollup ? readRollup(this.#question.directory, day) : null;
    if (file?.isIntact === true && areDeleted(file.files, files)) {
      this.#addRollup(file.read());
      if (coverAll(file.files, files)) return;
    } else if (this.#isEnough(file, files)) {
      this.#addRollup(file.read());
      return;
    }
    if (files.length > 0) await this.#addRecords(day);
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
    for (const segment of rollup.segments) {
      this.#addSegment(rollup, segment);
      for (const record of segment.background) this.book.add(record);
    }
  }

  #addSegment(rollup: Rollup, { from }: RollupSegment): void {
    const { calendar, prices } = this.#settings;
    const slots = prices ?? NO_SLOTS;
    const sums = new RollupSums({ by: ["tool", "key"], calendar, prices: slots, filter: {} });
    sums.add({ rollup, since: from, until: from + 1 });
    const day = new DaySums({ axes: AXES, slots, filter: {} });
    sums.addTo(day);
    for (const {
      names: [tool, key],
      ...tally
    } of day.encode().groups) {
      const spent = spentInSums(tally, prices);
      if (spent !== null) this.book.addSum({ tool: tool ?? "", key: key ?? "", project: null }, from, spent);
    }
  }

  #addRecords(day: string): Promise<void> {
    const { directory, wall } = this.#question;
    return visitDay(directory, day, (record) => {
      if ("unreadable" in record || this.#copies.isCopy(record)) return;
      this.book.add(record);
      if (Date.parse(record.ts) + record.duration_ms > wall - MARGIN_MS) this.lastIds.push(record.id);
    });
  }
}

const AXES = { namesOf: () => [], model: -1 };
