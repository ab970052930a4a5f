import { setTimeout as delay } from "node:timers/promises";
import {
  readLedgerAfter,
  saveCheckpoint,
  type Checkpoint,
  type LedgerBatch,
} from "../../adapters/ledger-file.ts";
import { encodeMetrics, type Sender } from "../../adapters/otlp/encode.ts";
import type { OtlpConfig } from "../../core/config/config.ts";
import type { ExportCounts, ExporterStatus } from "../../core/export/exporter-status.ts";
import type { AccountStatus } from "../../core/limits/account-limits.ts";
import { describeWindows } from "../../core/metrics/limit-metrics.ts";
import { describeUsage } from "../../core/metrics/describe-usage.ts";
import { UsageMetrics } from "../../core/metrics/usage-metrics.ts";
import type { PriceBook } from "../../core/price/price-book.ts";
import { Delivery } from "./delivery.ts";
import type { ExporterState } from "./exporter-state.ts";
import type { Receiver } from "./receiver.ts";

/** Receivers drop metrics that are not sent for some minutes, so unchanged ones are repeated. */
const REPEAT_MS = 60_000;

/** What an exporter works with. */
interface ExporterOptions {
  config: OtlpConfig;
  /** Of the ledger. */
  directory: string;
  /** The file of the checkpoint. */
  path: string;
  checkpoint: Checkpoint<ExporterState>;
  sender: Sender;
  receiver: Receiver;
  prices: PriceBook;
  /** Reads what is known of the limits of services. */
  readLimits(): readonly AccountStatus[];
  onStatus(status: ExporterStatus): void;
  /** Ends it. What was not accepted by then is sent by the next one. */
  isOver: AbortSignal;
}

/**
 * Sends records and metrics from the ledger's files, with one batch in memory at a time. A checkpoint is written when a batch is
 * accepted, so that a kill at any moment repeats at most that batch and loses no record.
 */
export class Exporter {
  readonly #options: ExporterOptions;
  readonly #metrics: UsageMetrics;
  readonly #delivery: Delivery;
  #checkpoint: Checkpoint<ExporterState>;
  #metricsSentAt = -Infinity;
  #areMetricsNew = true;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#checkpoint = options.checkpoint;
    this.#metrics = new UsageMetrics(options.checkpoint.state.metrics);
    this.#delivery = new Delivery(options, options.checkpoint.state.counts);
  }

  /** What has become of records so far. */
  get counts(): ExportCounts {
    return this.#delivery.counts;
  }

  /** Sends what there is, and from then on what is added. Rejects with the reason of `isOver`. */
  async follow(): Promise<never> {
    const { config, isOver } = this.#options;
    for (;;) {
      await this.sendAll();
      await delay(config.intervalMs, undefined, { signal: isOver });
    }
  }

  /** Sends what there is. Resolves when all of it is accepted, however long that takes. */
  async sendAll(): Promise<void> {
    const { config, directory, prices } = this.#options;
    for await (const batch of readLedgerAfter(directory, this.#checkpoint.cursor)) {
      for (const record of batch.records) this.#metrics.add(record, prices);
      if (batch.records.length > 0) this.#areMetricsNew = true;
      if (config.signals.includes("records")) await this.#delivery.deliver(batch.records);
      await this.#keep(batch);
    }
    if (config.signals.includes("metrics")) await this.#sendMetrics();
  }

  /** Closes the connection to the receiver. */
  close(): void {
    this.#options.receiver.close();
  }

  async #keep({ cursor, unreadable, unknownVersion }: LedgerBatch): Promise<void> {
    const { counts } = this.#delivery;
    counts.unreadable += unreadable + unknownVersion;
    const state = { ...this.#checkpoint.state, counts, metrics: this.#metrics.encode() };
    this.#checkpoint = { cursor, state };
    await saveCheckpoint(this.#options.path, this.#checkpoint);
  }

  /** Metrics are cumulative: the next ones contain those that did not arrive, so nothing waits for them. */
  async #sendMetrics(): Promise<void> {
    if (!this.#areMetricsNew && performance.now() - this.#metricsSentAt < REPEAT_MS) return;
    const { startedAt } = this.#checkpoint.state;
    const times = { startedAt, now: Date.now() };
    const metrics = [...describeUsage(this.#metrics), ...describeWindows(this.#options.readLimits())];
    const data = encodeMetrics(metrics, times, this.#options.sender, "protobuf");
    if (!(await this.#delivery.tryOnce("metrics", data))) return;
    this.#areMetricsNew = false;
    this.#metricsSentAt = performance.now();
  }
}
