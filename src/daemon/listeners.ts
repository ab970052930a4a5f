import { portTaken } from "../adapters/port-holder.ts";
import { hasCode, type Failure } from "../core/failure.ts";
import { adopt, listen, type ConnectionHandler, type Listener } from "../proxy/client/listener.ts";

/**
 * How long the failure for a taken port is kept. To name the holder is a search through all processes, for which every stream
 * waits, and a configuration that cannot be applied is tried again every two seconds.
 */
const KEEP_MS = 60_000;

/** The daemon's listeners: one on its own port, and one on the sockets that a service manager passed to it. */
export class Listeners {
  readonly #handler: ConnectionHandler;
  /** Stays open whatever port is configured: connections to its sockets would otherwise wait forever. */
  readonly #adopted: Listener;
  #own: Listener;
  /** Listeners on earlier ports, until their last connection has closed. */
  readonly #old = new Set<Listener>();
  /** The failure for the port that was found taken last. */
  #taken: { port: number; failure: Failure; at: number } | null = null;

  private constructor(handler: ConnectionHandler, adopted: Listener, own: Listener) {
    this.#handler = handler;
    this.#adopted = adopted;
    this.#own = own;
  }

  /** Rejects with a Failure when the port is taken, or when a descriptor is not a socket on loopback. */
  static async open(
    handler: ConnectionHandler,
    port: number,
    descriptors: readonly number[] = [],
  ): Promise<Listeners> {
    const adopted = await adopt(descriptors, handler);
    try {
      return new Listeners(handler, adopted, await listenOn(port, handler, adopted));
    } catch (error) {
      await adopted.destroy();
      throw error;
    }
  }

  get port(): number {
    return this.#own.port;
  }

  get addresses(): string[] {
    return [...this.#adopted.addresses, ...this.#own.addresses];
  }

  /** Opens a listener on a newly configured port, in addition to the current one. Returns null when the port stays the same. */
  async prepare(port: number): Promise<Listener | null> {
    if (port === this.port || port === 0) return null;
    return listenOn(port, this.#handler, this.#adopted, (cause) => this.#explainTaken(port, cause));
  }

  #explainTaken(port: number, cause: unknown): Failure {
    const now = performance.now();
    if (this.#taken?.port !== port || now - this.#taken.at >= KEEP_MS)
      this.#taken = { port, failure: portTaken(port, cause), at: now };
    return this.#taken.failure;
  }

  /** Starts using a listener from {@link prepare}. Connections to the old port stay open until they end. */
  moveTo(listener: Listener): void {
    const old = this.#own;
    this.#own = listener;
    this.#old.add(old);
    void old.close().then(() => this.#old.delete(old));
  }

  /** Stops accepting. New connections to a service manager's socket wait for the next process. */
  close(): void {
    void this.#adopted.close();
    void this.#own.close();
  }

  /** Closes every connection, open requests included. */
  async destroy(): Promise<void> {
    await Promise.all([this.#adopted, this.#own, ...this.#old].map((listener) => listener.destroy()));
  }
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
