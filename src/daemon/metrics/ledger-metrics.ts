import { cursorAtEnd, readCheckpoint, saveCheckpoint } from "../../adapters/ledger-file.ts";
import { loadPriceBook } from "../../adapters/price-table.ts";
import { messageOf } from "../../core/failure.ts";
import { DAY_START } from "../../core/ledger/after/cursor.ts";
import { describeUsage } from "../../core/metrics/describe-usage.ts";
import type { Metric } from "../../core/metrics/metric.ts";
import { parseMetricsState, type MetricsState } from "../../core/metrics/metrics-state.ts";
import { UsageMetrics } from "../../core/metrics/usage-metrics.ts";
import type { PriceBook } from "../../core/price/price-book.ts";
import type { PriceSettings } from "../../core/config/config.ts";
import type { Clock, Log } from "../../ports.ts";
import type { Place } from "../ledger-follower.ts";
import { readInThread } from "../ledger-reader.ts";
import { countAfter } from "./count-after.ts";

/** What counting metrics needs. */
export interface LedgerMetricsParts {
  /** The file in which they survive a restart. */
  path: string;
  clock: Clock;
  log: Log;
}

/** How many bytes are counted between requests, of some 700 each. To parse 512 KiB takes up to 10 ms at once. The rest is counted in a thread. */
const MOST_BYTES = 1024 * 1024;

/** How often the checkpoint is written at most. A restart counts what came after it again. */
const CHECKPOINT_MS = 60_000;

/** The place before the first record. */
const START: Place["cursor"] = { days: {}, since: null };

/**
 * Counts the ledger for metrics: all of it once, and from then on what was appended. Keeps what it has counted together with its place
 * in the ledger, so that after any end of the daemon each record counts once.
 */
export class LedgerMetrics {
  readonly #parts: LedgerMetricsParts;
  #place: Place;
  /** Where counting goes on once all of the present directory has been counted; null unless the ledger has moved. */
  #next: Place | null = null;
  #usage: UsageMetrics;
  #settings: PriceSettings;
  #prices: PriceBook;
  #isClosing = false;
  #hasFailed = false;
  /** True if there is anything that the checkpoint does not have. */
  #hasCounted = false;
  #savedAt: number;
  #counting: Promise<void> = Promise.resolve();

  /** Takes what is known from the checkpoint. `directory` is the ledger's. */
  static async open(
    parts: LedgerMetricsParts,
    directory: string,
    settings: PriceSettings,
  ): Promise<LedgerMetrics> {
    const prices = await loadPriceBook(settings);
    const metrics = new LedgerMetrics(parts, directory, settings, prices);
    // The ledger moved while the daemon was not running or metrics were off. Records that are already there were counted elsewhere, or are old.
    if (metrics.#place.directory !== directory) metrics.#next = { directory, cursor: cursorAtEnd(directory) };
    return metrics;
  }

  private constructor(
    parts: LedgerMetricsParts,
    directory: string,
    settings: PriceSettings,
    prices: PriceBook,
  ) {
    this.#parts = parts;
    this.#settings = settings;
    this.#prices = prices;
    this.#savedAt = parts.clock.monotonic();
    const known = readKnown(parts);
    this.#usage = new UsageMetrics(known?.state.usage);
    this.#place = { directory: known?.state.directory ?? directory, cursor: known?.cursor ?? START };
  }

  /** Applies other prices to records that are counted from now on. */
  async setPrices(settings: PriceSettings): Promise<void> {
    this.#prices = await loadPriceBook(settings);
    this.#settings = settings;
  }

  /** Goes on at another place, once all of the present directory is counted. Call it when the ledger has moved. */
  moveTo(place: Place): void {
    this.#next = place;
  }

  /** Counts what was appended. Requests at the same time wait for one another. Rejects while the ledger cannot be read. */
  async count(): Promise<void> {
    const counting = this.#counting.then(() => this.#countAll());
    this.#counting = counting.catch(() => {});
    await counting;
  }

  /** Returns what has been counted. */
  describe(): Metric[] {
    return describeUsage(this.#usage);
  }

  /** Ends the counting, and writes the checkpoint. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#counting;
    await this.#save();
  }

  async #countAll(): Promise<void> {
    try {
      // Before the reading, so that records written to the old directory meanwhile are not missed.
      for (let next = this.#next; !this.#isClosing; next = this.#next) {
        await (next === null ? this.#countPlace() : this.#countRest());
        if (next === null) break;
        this.#place = next;
        if (this.#next === next) this.#next = null;
      }
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed)
        this.#parts.log.warn({ reason: messageOf(error) }, "the ledger cannot be read for metrics");
      this.#hasFailed = true;
      throw error;
    }
    if (this.#parts.clock.monotonic() - this.#savedAt >= CHECKPOINT_MS) await this.#save();
  }

  /** Counts the rest of the previous directory. A file that cannot be read there may never be readable again, so it does not stop the rest. */
  async #countRest(): Promise<void> {
    try {
      await this.#countPlace();
    } catch (error) {
      const { directory } = this.#place;
      this.#parts.log.warn(
        { directory, reason: messageOf(error) },
        "the last records of the previous ledger directory are not in the metrics",
      );
    }
  }

  async #countPlace(): Promise<void> {
    const { directory, cursor: after } = this.#place;
    const until = cursorAtEnd(directory);
    if (bytesBetween(after, until) > MOST_BYTES) return this.#countInThread(until);
    await countAfter({ directory, after, until }, this.#usage, this.#prices, (cursor) => {
      this.#advance(cursor);
      return !this.#isClosing;
    });
  }

  async #countInThread(until: Place["cursor"]): Promise<void> {
    const { directory, cursor: after } = this.#place;
    const question = { usage: this.#usage.encode(), after, prices: this.#settings };
    const usage = await readInThread("metrics", question, { directory, cursor: until });
    // If it was closed meanwhile, the next start does this.
    if (this.#isClosing) return;
    this.#usage = new UsageMetrics(usage);
    this.#advance(until);
    await this.#save();
  }

  #advance(cursor: Place["cursor"]): void {
    this.#place = { ...this.#place, cursor };
    this.#hasCounted = true;
  }

  /** A failed write is no error: a restart counts those records again. */
  async #save(): Promise<void> {
    if (!this.#hasCounted) return;
    const { path, clock, log } = this.#parts;
    const { directory, cursor } = this.#place;
    this.#savedAt = clock.monotonic();
    this.#hasCounted = false;
    const state: MetricsState = { v: 1, directory, usage: this.#usage.encode() };
    try {
      await saveCheckpoint(path, { cursor, state });
    } catch (error) {
      this.#hasCounted = true;
      log.debug({ err: error }, "the metrics' checkpoint cannot be written");
    }
  }
}

/** Compressed bytes count as ten, which they are of records. */
function bytesBetween({ days: before }: Place["cursor"], { days }: Place["cursor"]): number {
  return Object.entries(days).reduce((sum, [day, { compressed, lines }]) => {
    const from = before[day] ?? DAY_START;
    const moved = Math.max(0, compressed - from.compressed) * 10;
    return sum + (moved > 0 ? moved + lines : Math.max(0, lines - from.lines));
  }, 0);
}

/** An unreadable file is treated like a missing one: everything in it can be counted from the ledger again. */
function readKnown({ path, log }: LedgerMetricsParts) {
  try {
    return readCheckpoint(path, parseMetricsState);
  } catch (error) {
    log.warn(
      { reason: messageOf(error) },
      "the metrics' checkpoint cannot be read; counting the whole ledger",
    );
    return null;
  }
}
