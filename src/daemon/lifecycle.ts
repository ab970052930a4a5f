import type { ControlSocket } from "../adapters/control-socket.ts";
import { checkLedgerDirectory, cursorAtEnd } from "../adapters/ledger-file.ts";
import { ledgerLocation } from "../adapters/paths.ts";
import type { Config } from "../core/config/config.ts";
import { formatProblem, type Problem } from "../core/config/problem.ts";
import { messageOf } from "../core/failure.ts";
import { SANDBOX_UPSTREAM } from "../core/config/names.ts";
import type { ConfigSource, Log, ServiceNotifier } from "../ports.ts";
import { prepareSettings, type Settings } from "../core/decide/settings.ts";
import type { AssembledGate } from "./assemble-gate.ts";
import type { DaemonExporter } from "./exporter.ts";
import type { OutlierWatch } from "./notices/outlier-watch.ts";
import type { PreparedMove } from "./listeners.ts";
import type { RecordFeed } from "./record-feed.ts";
import type { SandboxUpstream } from "./sandbox-upstream.ts";
import { fixOf } from "../adapters/system-fix.ts";

/** The parts that a running daemon consists of. */
interface DaemonParts extends AssembledGate {
  source: ConfigSource;
  sandbox: SandboxUpstream;
  exporter: DaemonExporter;
  outliers: Pick<OutlierWatch, "close">;
  feed: RecordFeed;
  notifier: ServiceNotifier;
  log: Log;
  /** Reopens the log file by its name. */
  reopenLog: () => void;
}

/** Longest time that a stop takes after its drain, to close connections and flush; in milliseconds. */
const CLOSING_MS = 5_000;

/** SIGQUIT tells nginx to stop gracefully; its default action would end us at once. */
const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT"] as const;

/** Applies new configurations to a running daemon, handles its signals, and stops it. */
export class Lifecycle {
  readonly startedAt = new Date();
  /** Resolves when everything has been closed and flushed. */
  readonly stopped: Promise<void>;
  readonly #parts: DaemonParts;
  #control: ControlSocket | null = null;
  /** The current change of configuration. A stop waits for it, because it may be opening a listener. */
  #change: Promise<unknown> = Promise.resolve();
  #isStopping = false;
  #resolveStopped: () => void = () => {};

  constructor(parts: DaemonParts) {
    this.#parts = parts;
    this.stopped = new Promise((resolve) => (this.#resolveStopped = resolve));
  }

  get port(): number {
    return this.#parts.listeners.port;
  }

  get addresses(): string[] {
    return this.#parts.listeners.addresses;
  }

  /** The path of the Unix socket; null when there is none. */
  get unixSocket(): string | null {
    return this.#parts.listeners.unixSocket;
  }

  get config(): Config {
    return this.#parts.source.current();
  }

  /** True once the daemon has begun to stop. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Starts following the configuration file and the signals. `control` is closed with everything else. */
  begin(control: ControlSocket): void {
    this.#control = control;
    const { source, gate, metrics, exporter, log, notifier } = this.#parts;
    source.onChange((config) => (this.#change = this.#apply(config)));
    source.onProblems((problems) => this.#onProblems(problems));
    source.onOverruled((overruled) => this.#onOverruled(overruled));
    this.#onOverruled(source.status().overruled);
    for (const signal of STOP_SIGNALS) process.on(signal, () => this.#onStopSignal());
    process.on("SIGHUP", () => this.reload());
    log.info({ listening: this.#everywhere() }, "tollkeeper is ready");
    notifier.ready(this.#describe());
    // After the service manager has been notified.
    setImmediate(() => {
      gate.prepare();
      exporter.use(source.current(), source.status().path);
      metrics.begin();
    });
  }

  /** Reads configuration, keys and tokens again, and reopens the log file. */
  reload(): void {
    const { source, keyring, tokens, exporter, log } = this.#parts;
    this.#reopenLog();
    keyring.forget();
    exporter.restart();
    tokens.reload();
    source.reload().then(
      () => log.info({}, "reloaded configuration and keys"),
      (error: unknown) => log.error({ err: error }, "cannot read the configuration"),
    );
  }

  #reopenLog(): void {
    const { log, reopenLog } = this.#parts;
    try {
      reopenLog();
    } catch (error) {
      log.error({ err: error }, "the log file cannot be reopened; still using the old one");
    }
  }

  /** Stops accepting and lets open streams finish, for up to `limits.drainMs`. Later calls do nothing. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    void this.#drain();
  }

  /** The first signal drains, the second stops at once. */
  #onStopSignal(): void {
    if (!this.#isStopping) return this.stop();
    this.#parts.log.warn({}, "stopping at once");
    this.#finish();
  }

  /** Applies a configuration as a whole, or changes nothing and returns what prevents it. */
  async #apply(config: Config): Promise<Problem[]> {
    const {
      gate,
      ledger,
      budgets,
      captures,
      limits,
      metrics,
      listeners,
      sandbox,
      source,
      exporter,
      feed,
      log,
      notifier,
    } = this.#parts;
    let move: PreparedMove | null = null;
    try {
      const complete = await sandbox.complete(config);
      const settings = prepareSettings(complete);
      const location = ledgerLocation(config);
      // Before a port is opened: this is retried again and again, and no client should connect to a port that closes at once.
      if (location.directory !== ledger.health().directory) await checkLedgerDirectory(location.directory);
      move = await listeners.prepare(config);
      if (this.#isStopping) {
        await move?.cancel();
        return [];
      }
      const { directory } = location;
      const place =
        directory === ledger.health().directory ? null : { directory, cursor: cursorAtEnd(directory) };
      ledger.moveTo(location);
      if (place !== null) metrics.moveTo(place);
      if (move !== null) {
        move.begin();
        log.info({ listening: this.#everywhere() }, "moved to another address");
      }
      budgets.use(complete);
      captures.use(complete);
      for (const name of findMoved(gate.settings, settings)) {
        feed.forget(name);
        limits.forget(name);
      }
      gate.use(settings);
      exporter.use(config, source.status().path);
      await metrics.use(complete, location.directory);
      log.info({}, "the new configuration is in force");
      notifier.status(this.#describe());
      return [];
    } catch (error) {
      await move?.cancel();
      return [problemOf(error)];
    }
  }

  #onProblems(problems: Problem[]): void {
    const { source, log, notifier } = this.#parts;
    const [first] = problems;
    if (first === undefined) {
      log.info({}, "the configuration file is valid again");
      notifier.status(this.#describe());
      return;
    }
    const what = formatProblem(source.status().path, first);
    const message = `the new configuration cannot be applied; still using the old one: ${what}`;
    log.error({ about: "configuration", problems: problems.length }, message);
    notifier.status(`${this.#describe()}; the newest configuration cannot be applied`);
  }

  /** A mistake in the user's file, which must not go unnoticed. The managed file applies. */
  #onOverruled(overruled: Problem[]): void {
    const { source, log } = this.#parts;
    const [first] = overruled;
    if (first === undefined) return;
    const message = `a part of the configuration is not used: ${formatProblem(source.status().path, first)}`;
    log.warn({ about: "configuration", values: overruled.length }, message);
  }

  /** One line for people. */
  #describe(): string {
    const [{ upstream }, ...others] = this.#parts.gate.settings.destinations;
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    const isSandbox = upstream.name === SANDBOX_UPSTREAM;
    const what = isSandbox ? "the built-in sandbox responds" : `forwards to ${upstream.baseUrl}${more}`;
    return `listens on ${this.#everywhere().join(" and ")}, ${what}`;
  }

  #everywhere(): string[] {
    return [...this.addresses, ...(this.unixSocket === null ? [] : [this.unixSocket])];
  }

  async #drain(): Promise<void> {
    const { gate, listeners, source, log, notifier } = this.#parts;
    const { drainMs } = source.current().limits;
    listeners.close();
    const open = gate.openExchanges;
    log.info({ open }, "stopping; open streams may finish, a second signal stops at once");
    notifier.stopping(`stops when the open requests have finished: ${open}`, drainMs + CLOSING_MS);
    const timer = setTimeout(() => this.#finish(), drainMs);
    await gate.drain();
    clearTimeout(timer);
    this.#finish();
  }

  #finish(): void {
    const { gate, ledger, limits, exporter, outliers, notifier } = this.#parts;
    gate.close();
    ledger.close();
    limits.close();
    exporter.close();
    outliers.close();
    notifier.close();
    void this.#closeRest().then(() => this.#resolveStopped());
  }

  async #closeRest(): Promise<void> {
    const { captures, listeners, metrics, sandbox, source } = this.#parts;
    await this.#change;
    const rest = [captures.close(), listeners.destroy(), sandbox.close(), source.close(), metrics.close()];
    await Promise.allSettled([...rest, this.#control?.close()]);
  }
}

/** Returns the upstreams that have another address from now on. */
function findMoved(before: Settings, after: Settings): string[] {
  const addresses = new Map(after.destinations.map(({ upstream }) => [upstream.name, upstream.baseUrl]));
  return before.destinations
    .filter(({ upstream }) => addresses.get(upstream.name) !== upstream.baseUrl)
    .map(({ upstream }) => upstream.name);
}

/** Reports what prevents a configuration as a problem of its file. */
function problemOf(error: unknown): Problem {
  const hint = fixOf(error);
  return { path: "", line: null, message: messageOf(error), ...(hint !== undefined && { hint }) };
}
