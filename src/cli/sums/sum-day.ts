import type { Config } from "../../core/config/config.ts";
import { zonedCalendar } from "../../core/ledger/calendar.ts";
import { DaySums, type SumOptions } from "../../core/ledger/day-sums.ts";
import type { Grouping } from "../../core/ledger/grouping.ts";
import type { RecordFilter } from "../../core/ledger/record-filter.ts";
import { sumOptionsOf } from "../../core/ledger/report.ts";
import { PriceBook } from "../../core/price/price-book.ts";
import { visitDay, type UnreadableLine } from "../../adapters/ledger-file.ts";
import { loadPriceTable } from "../../adapters/price-table.ts";

/** What is asked of a ledger, as data that a worker can be given. */
export interface LedgerQuestion {
  directory: string;
  /** Wall times in milliseconds since 1970; `until` is the first moment after it, or null for all that follows. */
  since: number;
  until: number | null;
  by: readonly Grouping[];
  /** IANA name of the time zone of the days. */
  zone: string;
  filter: RecordFilter;
  /** What the prices are made of. */
  config: Pick<Config, "prices" | "upstreams">;
}

/** The sums of a day's file, and its lines that are not records. */
export interface SummedDay {
  sums: DaySums;
  unreadable: readonly UnreadableLine[];
}

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
    const { by, zone, filter, config } = question;
    const prices = new PriceBook(config, await loadPriceTable());
    const options = sumOptionsOf({ by, filter, prices, calendar: zonedCalendar(zone) });
    return new DaySummer(question, options);
  }

  /** Reads a day's file. Rejects as `readLedger` throws. */
  async sum(day: string): Promise<SummedDay> {
    const sums = this.create();
    const unreadable: UnreadableLine[] = [];
    await visitDay(this.#question.directory, day, (entry) => {
      if ("unreadable" in entry) unreadable.push(entry);
      else if (entry.ts >= this.#from && entry.ts < this.#before) sums.add(entry);
    });
    return { sums, unreadable };
  }

  /** Returns sums of nothing. */
  create(): DaySums {
    return new DaySums(this.#options);
  }
}
