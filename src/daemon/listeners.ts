import { portTaken } from "../adapters/port-holder.ts";
import { hasCode, type Failure } from "../core/failure.ts";
import type { Config } from "../core/config/config.ts";
import type { Log } from "../ports.ts";
import {
  adopt,
  listen,
  type Closable,
  type ConnectionHandler,
  type Listener,
} from "../proxy/client/listener.ts";
import type { UnixListener } from "./unix-listener.ts";

/**
 * How long the failure for a taken port is kept. To name the holder is a search through all processes, for which every stream
 * waits, and a configuration that cannot be applied is tried again every two seconds.
 */
const KEEP_MS = 60_000;

/** Listeners that have been opened for a new configuration, in addition to the current ones. Exactly one of the two is called. */
export interface PreparedMove {
  /** Starts using them. Connections on the old ones stay open until they end. */
  begin(): void;
  cancel(): Promise<void>;
}

/**
 * The daemon's listeners: one on its own port, one on the sockets that a service manager passed to it, and one on a Unix socket if the
 * configuration names one.
 */
export class Listeners {
  readonly #handler: ConnectionHandler;
  /** Stays open whatever port is configured: connections to its sockets would otherwise wait forever. */
  readonly #adopted: Listener;
  #own: Listener;
  #unix: UnixListener | null;
  readonly #log: Log;
  /** Earlier listeners, until their last connection has closed. */
  readonly #old = new Set<Closable>();
  /** The failure for the port that was found taken last. */
  #taken: { port: number; failure: Failure; at: number } | null = null;

  private constructor(
    handler: ConnectionHandler,
    log: Log,
    opened: { adopted: Listener; own: Listener; unix: UnixListener | null },
  ) {
    this.#handler = handler;
    this.#log = log;
    this.#adopted = opened.adopted;
    this.#own = opened.own;
    this.#unix = opened.unix;
  }

  /**
   * Rejects with a Failure when the port is taken, a descriptor is not a socket on loopback, or the Unix socket cannot be opened.
   */
  static async open(
    handler: ConnectionHandler,
    config: Config,
    log: Log,
    descriptors: readonly number[] = [],
  ): Promise<Listeners> {
    const opened: Closable[] = [];
    try {
      const adopted = await adopt(descriptors, handler);
      opened.push(adopted);
      const own = await listenOn(config.listen.port, handler, adopted);
      opened.push(own);
      const { socket } = config.listen;
      const unix = socket === null ? null : await openUnixSocket(socket, config, handler, log);
      return new Listeners(handler, log, { adopted, own, unix });
    } catch (error) {
      await Promise.all(opened.map((listener) => listener.destroy()));
      throw error;
    }
  }

  get port(): number {
    return this.#own.port;
  }

  get addresses(): string[] {
    return [...this.#adopted.addresses, ...this.#own.addresses];
  }

  /** The path of the Unix socket; null when there is none. */
  get unixSocket(): string | null {
    return this.#unix?.path ?? null;
  }

  /** Opens listeners on a newly configured port or Unix socket. Returns null when both stay the same. */
  async prepare(config: Config): Promise<PreparedMove | null> {
    const { port, socket } = config.listen;
    const isPortSame = port === this.port || port === 0;
    const isSocketSame = socket === this.unixSocket;
    if (isPortSame && isSocketSame) return null;
    const explain = (cause: unknown) => this.#explainTaken(port, cause);
    const own = isPortSame ? null : await listenOn(port, this.#handler, this.#adopted, explain);
    try {
      const isOpened = !isSocketSame && socket !== null;
      const unix = isOpened ? await openUnixSocket(socket, config, this.#handler, this.#log) : null;
      return {
        begin: () => {
          if (own !== null) this.#own = this.#replace(this.#own, own);
          if (!isSocketSame) this.#unix = this.#replace(this.#unix, unix);
        },
        cancel: async () => {
          await Promise.all([own?.destroy(), unix?.destroy()]);
        },
      };
    } catch (error) {
      await own?.destroy();
      throw error;
    }
  }

  /** Closes the old listener, whose connections stay open until they end. Returns the new one. */
  #replace<Kind extends Closable | null>(old: Kind, opened: Kind): Kind {
    if (old !== null) {
      this.#old.add(old);
      void old.close().then(() => this.#old.delete(old));
    }
    return opened;
  }

  #explainTaken(port: number, cause: unknown): Failure {
    const now = performance.now();
    if (this.#taken?.port !== port || now - this.#taken.at >= KEEP_MS)
      this.#taken = { port, failure: portTaken(port, cause), at: now };
    return this.#taken.failure;
  }

  /** Stops accepting. New connections to a service manager's socket wait for the next process. */
  close(): void {
    void this.#adopted.close();
    void this.#own.close();
    void this.#unix?.close();
  }

  /** Closes every connection, open requests included. */
  async destroy(): Promise<void> {
    const all: Closable[] = [this.#adopted, this.#own, ...this.#old];
    if (this.#unix !== null) all.push(this.#unix);
    await Promise.all(all.map((listener) => listener.destroy()));
  }
}

/** Loads what only a daemon with a Unix socket needs. */
async function openUnixSocket(
  path: string,
  config: Config,
  handler: ConnectionHandler,
  log: Log,
): Promise<UnixListener> {
  const { listenOnUnixSocket } = await import("./unix-listener.ts");
  return listenOnUnixSocket(path, config, handler, log);
}

/** Listens on a port. Throws a Failure that names the holder when the port is taken. */
async function listenOn(
  port: number,
  handler: ConnectionHandler,
  adopted: Listener,
  explainTaken = (cause: unknown) => portTaken(port, cause),
): Promise<Listener> {
  try {
    return await listen(port, handler, { except: adopted.addresses });
  } catch (error) {
    throw hasCode(error, "EADDRINUSE") ? explainTaken(error) : error;
  }
}
