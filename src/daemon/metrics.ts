import { type Config, priceSettingsOf } from "../core/config/config.ts";
import { messageOf } from "../core/failure.ts";
import type { Metric } from "../core/metrics/metric.ts";
import type { TextFormat } from "../core/metrics/prometheus-text.ts";
import type { MetricsSource } from "../local/metrics.ts";
import type { Place } from "./ledger-follower.ts";
import type { LedgerMetrics, LedgerMetricsParts } from "./metrics/ledger-metrics.ts";

/** What the daemon answers to `tollkeeper metrics`. */
export interface MetricsAnswer {
  text: string;
  /** False where the daemon does not count the ledger, so that only what it knows of itself is in the text. */
  hasUsage: boolean;
}

interface MetricsParts extends LedgerMetricsParts {
  /** Resolves to what the daemon knows of itself; nothing until it has started. */
  describeDaemon(): Promise<readonly Metric[]>;
}

/** Loads what counts the ledger once a configuration has `export.metrics`, and not before. */
export class DaemonMetrics implements MetricsSource {
  readonly #parts: MetricsParts;
  #ledger: LedgerMetrics | null = null;
  #needsToken = true;
  #hasBegun = false;
  /** Texts that are being written: whoever asks meanwhile gets the same. */
  readonly #written = new Map<TextFormat, Promise<Buffer>>();

  constructor(parts: MetricsParts) {
    this.#parts = parts;
  }

  get isOn(): boolean {
    return this.#ledger !== null;
  }

  get needsToken(): boolean {
    return this.#needsToken;
  }

  /** Applies a configuration whose ledger is at `directory`. Never rejects: without metrics, requests go on. */
  async use(config: Config, directory: string): Promise<void> {
    this.#needsToken = config.access.mode !== "open";
    try {
      if (config.export.metrics === null) await this.close();
      else if (this.#ledger !== null) await this.#ledger.setPrices(priceSettingsOf(config));
      else await this.#open(config, directory);
    } catch (error) {
      this.#parts.log.error({ reason: messageOf(error) }, "metrics cannot be switched on");
    }
  }

  /** Counts what the ledger has by now, so that the first scrape does not wait for it. */
  begin(): void {
    this.#hasBegun = true;
    void this.#ledger?.count().catch(() => {});
  }

  /** Goes on at a place in another directory, once the ledger has moved. */
  moveTo(place: Place): void {
    this.#ledger?.moveTo(place);
  }

  write(format: TextFormat): Promise<Buffer> {
    const shared = this.#written.get(format);
    if (shared !== undefined) return shared;
    const written = this.#write(format).finally(() => this.#written.delete(format));
    this.#written.set(format, written);
    return written;
  }

  /** Answers our own command, also where metrics are off. Rejects while the ledger cannot be read. */
  async answer(): Promise<MetricsAnswer> {
    return { text: String(await this.write("text")), hasUsage: this.isOn };
  }

  /** Ends the counting, and keeps what was counted. */
  async close(): Promise<void> {
    const ledger = this.#ledger;
    this.#ledger = null;
    await ledger?.close();
  }

  async #open(config: Config, directory: string): Promise<void> {
    const { LedgerMetrics } = await import("./metrics/ledger-metrics.ts");
    this.#ledger = await LedgerMetrics.open(this.#parts, directory, priceSettingsOf(config));
    if (this.#hasBegun) this.begin();
  }

  async #write(format: TextFormat): Promise<Buffer> {
    const { writeText } = await import("./metrics/write-text.ts");
    await this.#ledger?.count();
    const own = await this.#parts.describeDaemon();
    return writeText([...(this.#ledger?.describe() ?? []), ...own], format);
  }
}
