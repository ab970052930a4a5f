import { portTaken } from "../adapters/port-holder.ts";
import { hasCode } from "../core/failure.ts";
import { adopt, listen, type ConnectionHandler, type Listener } from "../proxy/client/listener.ts";

/** The daemon's listeners: one on its own port, and one on the sockets that a service manager passed to it. */
export class Listeners {
  readonly #handler: ConnectionHandler;
  /** Stays open whatever port is configured: connections to its sockets would otherwise wait forever. */
  readonly #adopted: Listener;
  #own: Listener;
  /** Listeners on earlier ports, until their last connection has closed. */
  readonly #old = new Set<Listener>();

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
    return port === this.port || port === 0 ? null : listenOn(port, this.#handler, this.#adopted);
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
async function listenOn(port: number, handler: ConnectionHandler, adopted: Listener): Promise<Listener> {
  try {
    return await listen(port, handler, { except: adopted.addresses });
  } catch (error) {
    throw hasCode(error, "EADDRINUSE") ? portTaken(port, error) : error;
  }
}
