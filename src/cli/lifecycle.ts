import type { ControlSocket } from "../adapters/control-socket.ts";
import type { Config } from "../core/config.ts";
import { writeProblem, type Problem } from "../core/config-problem.ts";
import { Failure } from "../core/failure.ts";
import type { ConfigSource, Log, MovableLedger } from "../ports.ts";
import type { Gate } from "../proxy/gate.ts";
import type { Keyring } from "../proxy/keyring.ts";
import { listen, type Listener } from "../proxy/listener.ts";
import { prepareSettings } from "../proxy/settings.ts";
import { ledgerPlace } from "./paths.ts";
import { portTaken } from "./port-holder.ts";
import type { SandboxFallback } from "./sandbox-fallback.ts";

/** The parts that a running daemon consists of. */
export interface DaemonParts {
  source: ConfigSource;
  ledger: MovableLedger;
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
  /** The newest configuration's way into force, which a stop waits for: it may be about to open something. */
  #change: Promise<unknown> = Promise.resolve();
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
    const { source, gate, log } = this.#parts;
    source.onChange((config) => {
      const applied = this.#apply(config);
      this.#change = applied;
      return applied;
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
    // After whoever waits for that was told.
    setImmediate(() => gate.prepare());
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

  /** Puts a configuration in force as a whole, or, when something stands in its way, nothing of it. */
  async #apply(config: Config): Promise<Problem[]> {
    const { gate, ledger, sandbox, log } = this.#parts;
    let opened: Listener | null = null;
    try {
      const settings = prepareSettings(await sandbox.complete(config));
      opened = await this.#listenAnew(config.listen.port);
      if (this.#isStopping) {
        await opened?.destroy();
        return [];
      }
      ledger.moveTo(ledgerPlace(config));
      if (opened !== null) this.#moveTo(opened);
      gate.use(settings);
      log.info({}, "the new configuration is in force");
      return [];
    } catch (error) {
      await opened?.destroy();
      return [problemOf(error)];
    }
  }

  /** null when the port stays the same. */
  async #listenAnew(port: number): Promise<Listener | null> {
    const isSame = port === this.#listener.port || port === 0;
    return isSame ? null : listenOn(port, this.#parts.gate);
  }

  /** What runs on the old port runs on. */
  #moveTo(listener: Listener): void {
    const old = this.#listener;
    this.#listener = listener;
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
    const { gate, ledger } = this.#parts;
    gate.close();
    ledger.close();
    void this.#closeRest().then(() => this.#resolveStopped());
  }

  async #closeRest(): Promise<void> {
    const { sandbox, source } = this.#parts;
    await this.#change;
    await Promise.allSettled([
      ...[this.#listener, ...this.#oldListeners].map((listener) => listener.destroy()),
      sandbox.close(),
      source.close(),
      this.#control?.close(),
    ]);
  }
}

/** What stands in the way of a configuration, told like what is wrong with its file. */
function problemOf(error: unknown): Problem {
  const hint = error instanceof Failure && error.hint !== undefined ? `; ${error.hint}` : "";
  return { path: "", line: null, message: (error instanceof Error ? error.message : String(error)) + hint };
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
