import type { ControlSocket } from "../adapters/control-socket.ts";
import type { Config } from "../core/config.ts";
import { writeProblem } from "../core/config-problem.ts";
import type { ConfigSource, Ledger, Log } from "../ports.ts";
import type { Gate } from "../proxy/gate.ts";
import type { Keyring } from "../proxy/keyring.ts";
import { listen, type Listener } from "../proxy/listener.ts";
import { prepareSettings } from "../proxy/settings.ts";
import { portTaken } from "./port-holder.ts";
import type { SandboxFallback } from "./sandbox-fallback.ts";

/** The parts that a running daemon consists of. */
export interface DaemonParts {
  source: ConfigSource;
  ledger: Ledger;
  keyring: Keyring;
  sandbox: SandboxFallback;
  gate: Gate;
  listener: Listener;
  log: Log;
}

/** What happens to a daemon between its start and its end: new configurations, signals, the stop. */
export class Lifecycle {
  readonly startedAt = new Date();
  /** Resolves when everything is closed and flushed. */
  readonly stopped: Promise<void>;
  readonly #parts: Omit<DaemonParts, "listener">;
  #listener: Listener;
  /** Those of earlier ports, as long as something runs on them. */
  readonly #oldListeners = new Set<Listener>();
  #control: ControlSocket | null = null;
  /** Changes are made one after another, in the order in which they came. */
  #changes: Promise<void> = Promise.resolve();
  #isStopping = false;
  #resolveStopped: () => void = () => {};

  constructor({ listener, ...parts }: DaemonParts) {
    this.#parts = parts;
    this.#listener = listener;
    this.stopped = new Promise((resolve) => (this.#resolveStopped = resolve));
  }

  get port(): number {
    return this.#listener.port;
  }

  get addresses(): string[] {
    return this.#listener.addresses;
  }

  get config(): Config {
    return this.#parts.source.current();
  }

  /** Follows the configuration file and the signals. `control` is closed with the rest. */
  begin(control: ControlSocket): void {
    this.#control = control;
    const { source, log } = this.#parts;
    source.onChange((config) => {
      this.#changes = this.#changes.then(() => this.#apply(config));
    });
    source.onProblems((problems) => {
      const [first] = problems;
      const what = first === undefined ? "" : `: ${writeProblem(source.status().path, first)}`;
      log.error(
        { problems: problems.length },
        `the new configuration is not accepted, the old one stays${what}`,
      );
    });
    process.on("SIGTERM", () => this.#onStopSignal());
    process.on("SIGINT", () => this.#onStopSignal());
    process.on("SIGHUP", () => this.reload());
    log.info({ listening: this.addresses }, "tollkeeper is ready");
  }

  /** Reads configuration and keys anew. */
  reload(): void {
    const { source, keyring, log } = this.#parts;
    keyring.forget();
    source.reload().then(
      () => log.info({}, "keys are forgotten and the configuration was read anew"),
      (error: unknown) => log.error({ err: error }, "cannot read the configuration"),
    );
  }

  async #apply(config: Config): Promise<void> {
    const { gate, sandbox, log } = this.#parts;
    if (this.#isStopping) return;
    try {
      gate.use(prepareSettings(await sandbox.complete(config)));
      await this.#movePort(config.listen.port);
      log.info({}, "the new configuration is in force");
    } catch (error) {
      log.error({}, error instanceof Error ? error.message : String(error));
    }
  }

  /** Listens on the new port first; what runs on the old one runs on. */
  async #movePort(port: number): Promise<void> {
    if (port === this.#listener.port || port === 0) return;
    const old = this.#listener;
    this.#listener = await listenOn(port, this.#parts.gate);
    this.#oldListeners.add(old);
    void old.close().then(() => this.#oldListeners.delete(old));
    this.#parts.log.info({ listening: this.addresses }, "moved to another port");
  }

  #onStopSignal(): void {
    if (this.#isStopping) {
      this.#parts.log.warn({}, "stopping at once");
      this.#finish();
      return;
    }
    this.#isStopping = true;
    void this.#drain();
  }

  async #drain(): Promise<void> {
    const { gate, source, log } = this.#parts;
    const { drainMs } = source.current().limits;
    void this.#listener.close();
    log.info(
      { open: gate.openExchanges },
      "stopping; open streams may finish, a second signal stops at once",
    );
    const timer = setTimeout(() => this.#finish(), drainMs);
    await gate.drain();
    clearTimeout(timer);
    this.#finish();
  }

  #finish(): void {
    const { gate, ledger, sandbox, source } = this.#parts;
    gate.close();
    ledger.close();
    const rest = [
      ...[this.#listener, ...this.#oldListeners].map((listener) => listener.destroy()),
      sandbox.close(),
      source.close(),
      this.#control?.close() ?? Promise.resolve(),
    ];
    void Promise.allSettled(rest).then(() => this.#resolveStopped());
  }
}

/** Listens for the gate; a taken port becomes a Failure that says who has it. */
export async function listenOn(port: number, gate: Gate): Promise<Listener> {
  try {
    return await listen(port, gate);
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "EADDRINUSE") throw portTaken(port, error);
    throw error;
  }
}
