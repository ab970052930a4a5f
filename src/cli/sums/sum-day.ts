import { calendarOf } from "../../core/ledger/calendar.ts";
import { DaySums, type SumOptions } from "../../core/ledger/day-sums.ts";
import type { RollupKind } from "../../core/ledger/day.ts";
import type { Grouping } from "../../core/ledger/grouping.ts";
import type { RecordFilter } from "../../core/ledger/record-filter.ts";
import { sumOptionsOf } from "../../core/ledger/report.ts";
import type { AccountWindows } from "../../core/limits/window-names.ts";
import type { Rollup } from "../../core/ledger/rollup.ts";
import type { PriceSettings } from "../../core/config/config.ts";
import { visitDay } from "../../adapters/ledger-file.ts";
import { detailDay, summariseDay } from "../../adapters/ledger-file/closed-days.ts";
import { loadPriceBook } from "../../adapters/price-table.ts";
import type { SkippedLines } from "../ledger/records-of-period.ts";

/** What is asked of a ledger, as data that a worker can be given. */
export interface LedgerQuestion {
  directory: string;
  /** Wall times in milliseconds since 1970; `until` is the first moment after it, or null for all that follows. */
  since: number;
  until: number | null;
  by: readonly Grouping[];
  /** IANA name of the time zone of the days; null for that of this process. */
  zone: string | null;
  filter: RecordFilter;
  /** What the prices are made of. */
  config: PriceSettings;
  /** The sizes of prompts that its prices tell apart: `PriceBook.allLimits`. */
  limits: readonly number[];
  /** The windows of services' limits, for rows by window. */
  windows?: readonly AccountWindows[] | undefined;
}

/** A day whose records have to be read: for sums of a kind, divided at `cuts`, or where these are null for this question only. */
export interface DayToRead {
  day: string;
  sums: { kind: RollupKind; cuts: readonly number[] } | null;
}

/** What was read of a day: its rollup, the file of its details, or what the question asks for. */
export type ReadDay = { rollup: Rollup } | { details: Uint8Array } | { sums: DaySums; skipped: SkippedLines };

/** Sorts behind every time. */
const AFTER_ALL = "~";

/** Sums the records of single days. */
export class DaySummer {
  readonly #question: LedgerQuestion;
  readonly #options: SumOptions;
  readonly #from: string;
  readonly #before: string;

  constructor(question: LedgerQuestion, options: SumOptions) {
    const { since, until } = question;
    this.#question = question;
    this.#options = options;
    this.#from = new Date(since).toISOString();
    this.#before = until === null ? AFTER_ALL : new Date(until).toISOString();
  }

  /** Loads what it takes to answer a question, in a worker. */
  static async load(question: LedgerQuestion): Promise<DaySummer> {
    const { by, zone, filter, config, windows } = question;
    const prices = await loadPriceBook(config);
    const options = sumOptionsOf({ by, filter, prices, calendar: calendarOf(zone), windows });
    return new DaySummer(question, options);
  }

  /** Reads a day's files. Rejects as `readLedger` throws. */
  async read({ day, sums: wanted }: DayToRead): Promise<ReadDay> {
    const { directory, limits } = this.#question;
    if (wanted?.kind === "rollup")
      return { rollup: await summariseDay(directory, day, { ...wanted, limits }) };
    if (wanted !== null) return { details: await detailDay(directory, day, { ...wanted, limits }) };
    const sums = this.create();
    const skipped: SkippedLines = { count: 0, first: null };
    await visitDay(directory, day, (entry) => {
      if ("unreadable" in entry) {
        skipped.count += 1;
        skipped.first ??= entry;
      } else if (entry.ts >= this.#from && entry.ts < this.#before) sums.add(entry);
    });
    return { sums, skipped };
  }

  /** Returns sums of nothing. */
  create(): DaySums {
    return new DaySums(this.#options);
  }
}
