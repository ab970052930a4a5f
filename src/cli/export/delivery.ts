import { setTimeout as delay } from "node:timers/promises";
import {
  encodeLogs,
  encodeNothing,
  encodeSpans,
  readPartialSuccess,
  type PartialSuccess,
  type Sender,
  type Signal,
} from "../../adapters/otlp/encode.ts";
import type { OtlpConfig } from "../../core/config/config.ts";
import { describeExchange } from "../../core/export/describe-exchange.ts";
import type { ExportCounts, ExporterStatus, ExportProblem } from "../../core/export/exporter-status.ts";
import { waitAfter, type Verdict } from "../../core/export/judge-response.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { toPrintable } from "../../core/text/printable.ts";
import type { Receiver } from "./receiver.ts";

/** Longest quotation of a receiver's message. */
const MOST_CHARACTERS = 300;

type Later = Extract<Verdict, { kind: "later" }>;

interface DeliveryOptions {
  config: OtlpConfig;
  sender: Sender;
  receiver: Pick<Receiver, "send">;
  onStatus(status: ExporterStatus): void;
  isOver: AbortSignal;
}

/** Delivers data to a receiver, as often as it takes, and counts what was delivered. */
export class Delivery {
  readonly counts: ExportCounts;
  readonly #options: DeliveryOptions;
  /** What is wrong, by signal: a receiver may take one and not another. */
  readonly #problems = new Map<Signal, ExportProblem>();
  /** Failures in a row, with records. */
  #failures = 0;
  #lastAcceptedAt: string | null = null;
  #rejection: string | null = null;

  constructor(options: DeliveryOptions, counts: ExportCounts) {
    this.#options = options;
    this.counts = { ...counts };
  }

  /**
   * Resolves when the receiver has accepted the records, or does not accept some of them at all: these are found by halves, counted and
   * passed over. Rejects with the reason of `isOver`.
   */
  async deliver(records: readonly UsageRecord[]): Promise<void> {
    if (records.length === 0) return;
    const { config, sender } = this.#options;
    const signal = config.trace ? "traces" : "logs";
    const encode = config.trace ? encodeSpans : encodeLogs;
    const data = encode(records.map(describeExchange), sender, "protobuf");
    if (await this.#sendUntilJudged(signal, data, records.length)) return;
    if (records.length === 1) {
      this.counts.skipped += 1;
      this.#rejection = `a record was not accepted, and was skipped: ${records[0]?.id ?? ""}`;
      this.#tell();
      return;
    }
    const middle = records.length >> 1;
    await this.deliver(records.slice(0, middle));
    await this.deliver(records.slice(middle));
  }

  /** Sends data that needs not arrive. Resolves to whether it did. */
  async tryOnce(signal: Signal, data: Uint8Array): Promise<boolean> {
    const { verdict, body } = await this.#send(signal, data);
    if (verdict.kind === "accepted") this.#accepted(signal, readPartialSuccess(signal, body));
    else this.#failed(signal, verdict.reason, verdict.kind === "later" ? verdict.hint : null);
    return verdict.kind === "accepted";
  }

  /** Resolves to false for data that is never accepted. */
  async #sendUntilJudged(signal: Signal, data: Uint8Array, records: number): Promise<boolean> {
    for (;;) {
      const { verdict, body } = await this.#send(signal, data);
      if (verdict.kind === "accepted") {
        this.#failures = 0;
        this.#countAccepted(signal, body, records);
        return true;
      }
      if (verdict.kind === "later") await this.#wait(signal, verdict);
      else {
        // What accepts no data at all is no receiver, and nothing is passed over because of it.
        const nothing = await this.#send(signal, encodeNothing(signal));
        if (nothing.verdict.kind === "accepted") return false;
        await this.#wait(signal, { kind: "later", reason: verdict.reason, hint: null, afterMs: null });
      }
    }
  }

  #send(signal: Signal, data: Uint8Array) {
    const { receiver, isOver } = this.#options;
    return receiver.send(signal, data, isOver);
  }

  #countAccepted(signal: Signal, body: Uint8Array, records: number): void {
    const partial = readPartialSuccess(signal, body);
    const rejected = Math.min(records, Math.max(0, partial?.rejected ?? 0));
    this.counts.sent += records - rejected;
    this.counts.rejected += rejected;
    this.#accepted(signal, partial);
  }

  async #wait(signal: Signal, { reason, hint, afterMs }: Later): Promise<void> {
    this.#failures += 1;
    this.#failed(signal, reason, hint);
    const wait = Math.max(afterMs ?? 0, waitAfter(this.#failures, Math.random()));
    await delay(wait, undefined, { signal: this.#options.isOver });
  }

  #failed(signal: Signal, reason: string, hint: string | null): void {
    const since = this.#problems.get(signal)?.since ?? new Date().toISOString();
    this.#problems.set(signal, { since, reason, hint });
    this.#tell();
  }

  #accepted(signal: Signal, partial: PartialSuccess | null): void {
    this.#problems.delete(signal);
    this.#lastAcceptedAt = new Date().toISOString();
    if (partial !== null) this.#rejection = quote(partial.message);
    this.#tell();
  }

  #tell(): void {
    const [problem = null] = this.#problems.values();
    const [counts, lastAcceptedAt, rejection] = [{ ...this.counts }, this.#lastAcceptedAt, this.#rejection];
    this.#options.onStatus({ counts, lastAcceptedAt, problem, rejection });
  }
}

function quote(words: string): string {
  return `it rejected data${words === "" ? "" : `: ${toPrintable(words.slice(0, MOST_CHARACTERS))}`}`;
}
