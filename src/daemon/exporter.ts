import { OwnProcess } from "../adapters/programs/own-process.ts";
import type { Config } from "../core/config/config.ts";
import { parseExporterStatus, type ExporterStatus } from "../core/export/exporter-status.ts";
import { toPrintable } from "../core/text/printable.ts";
import type { Log } from "../ports.ts";

const FIRST_RESTART_MS = 1_000;
const LONGEST_RESTART_MS = 60_000;

/** The exporter as `status` shows it. */
export interface ExportStatus extends ExporterStatus {
  /** Where it sends to, e.g. `https://otel.example.com:4318`. */
  endpoint: string;
  /** Its process; null while it is started again. */
  pid: number | null;
}

const NOTHING: ExporterStatus = {
  counts: { sent: 0, rejected: 0, skipped: 0, unreadable: 0 },
  lastAcceptedAt: null,
  problem: null,
  rejection: null,
};

/**
 * Keeps `tollkeeper export --follow` running while the configuration names a collector. It reads the ledger's files, so that requests
 * know nothing of it, and neither a dead collector nor the memory of an exporter is the daemon's.
 */
export class DaemonExporter {
  readonly #log: Log;
  #config: { endpoint: string; file: string } | null = null;
  /** With requests from then on the first export begins, however long its process takes to start; null while nothing is exported. */
  #since: Date | null = new Date();
  #process: OwnProcess | null = null;
  #status = NOTHING;
  #failures = 0;
  #restart: NodeJS.Timeout | null = null;
  /** True from when the process was told to end until it has. */
  #isTold = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Follows a configuration, which is read from `file`: a running exporter is replaced, because any part of it may concern that. The first
   * one has been in force since this was created.
   */
  use({ export: { otlp } }: Config, file: string): void {
    this.#since = otlp === null ? null : (this.#since ?? new Date());
    if (otlp === null && this.#config === null) return;
    this.#config =
      otlp === null ? null : { endpoint: `${otlp.endpoint.origin}${otlp.endpoint.basePath}`, file };
    this.#failures = 0;
    this.#status = NOTHING;
    this.restart();
  }

  /** Has it read the secrets of its headers again. */
  restart(): void {
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#restart = null;
    // Its end starts the next one: two would send the same records.
    if (this.#process === null) return this.#start();
    this.#isTold = true;
    this.#process.end();
  }

  /** null while the configuration names no collector. */
  status(): ExportStatus | null {
    if (this.#config === null) return null;
    return { endpoint: this.#config.endpoint, pid: this.#process?.pid ?? null, ...this.#status };
  }

  get isInOrder(): boolean {
    return this.#config === null || this.#status.problem === null;
  }

  close(): void {
    this.#config = null;
    this.restart();
  }

  #start(): void {
    if (this.#config === null || this.#since === null) return;
    const { file } = this.#config;
    const since = `--since=${this.#since.toISOString()}`;
    const started = new OwnProcess(["export", "--follow", since, `--config=${file}`], {
      onLine: (line) => this.#onLine(line),
      onEnd: (words) => {
        if (this.#process !== started) return;
        this.#process = null;
        this.#onEnd(words);
      },
    });
    this.#process = started;
  }

  #onLine(line: string): void {
    const status = parseExporterStatus(line);
    if (status === null) return;
    const { problem: before, rejection: rejectedBefore } = this.#status;
    const { problem, rejection, counts } = status;
    // A process that was started again does not know since when.
    const since = before?.since ?? problem?.since ?? "";
    this.#status = { ...status, problem: problem === null ? null : { ...problem, since } };
    if (problem !== null && before === null) this.#warn(problem.reason, problem.hint);
    if (problem === null) this.#failures = 0;
    if (problem === null && before !== null)
      this.#log.info({ sent: counts.sent }, "the collector accepts records again");
    if (rejection !== null && rejectedBefore === null)
      this.#log.warn({ about: "export" }, `the collector rejects records: ${toPrintable(rejection)}`);
  }

  /** Starts it again: at once after a change, later and later where it fails. */
  #onEnd(words: string): void {
    const wasTold = this.#isTold;
    this.#isTold = false;
    if (this.#config === null) return;
    if (wasTold) return this.#start();
    this.#failures += 1;
    const [reason = "", hint = ""] = toPrintable(words.replaceAll("\n", " ")).split(" hint: ");
    const problem = {
      since: new Date().toISOString(),
      reason: `the exporter ended: ${reason}`,
      hint: hint || null,
    };
    if (this.#status.problem === null) this.#warn(problem.reason, problem.hint);
    this.#status = { ...this.#status, problem: this.#status.problem ?? problem };
    const wait = Math.min(FIRST_RESTART_MS * 2 ** Math.min(this.#failures - 1, 10), LONGEST_RESTART_MS);
    this.#restart = setTimeout(() => this.#start(), wait).unref();
  }

  #warn(reason: string, hint: string | null): void {
    const { endpoint = "" } = this.#config ?? {};
    this.#log.warn(
      { about: "export", endpoint, hint: hint ?? undefined },
      `records are not exported: ${toPrintable(reason)}; they stay in the ledger and are sent later`,
    );
  }
}
