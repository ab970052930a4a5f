import type { ConnectionHandler, Listener } from "../proxy/client/listener.ts";
import { adopt, listen } from "../proxy/client/listener.ts";
import { portTaken } from "../adapters/port-holder.ts";

/** The daemon's listeners: on the sockets that a service manager handed over, and on its own. */
export class Listeners {
  readonly #handler: ConnectionHandler;
  /** Stays open until the end, whatever port is configured: its socket accepts connections, which would wait forever. */
  readonly #adopted: Listener;
  #own: Listener;
  /** Listeners of earlier ports, until their last connection has closed. */
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

  /** Opens a listener on a newly configured port, beside the present one. Returns null when the port stays the same. */
  async prepare(port: number): Promise<Listener | null> {
    return port === this.port || port === 0 ? null : listenOn(port, this.#handler, this.#adopted);
  }

  /** Takes a listener from {@link prepare} into use. Connections to the old port end by themselves. */
  moveTo(listener: Listener): void {
    const old = this.#own;
    this.#own = listener;
    this.#old.add(old);
    void old.close().then(() => this.#old.delete(old));
  }

  /** Stops accepting. New connections to a handed-over socket wait for the next process. */
  close(): void {
    void this.#adopted.close();
    void this.#own.close();
  }

  /** Closes every connection, whatever is running on it. */
  async destroy(): Promise<void> {
    await Promise.all([this.#adopted, this.#own, ...this.#old].map((listener) => listener.destroy()));
  }
}

/** Listens on a port. A taken port becomes a Failure that names its holder. */
async function listenOn(port: number, handler: ConnectionHandler, adopted: Listener): Promise<Listener> {
  try {
    return await listen(port, handler, { except: adopted.addresses });
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "EADDRINUSE") throw portTaken(port, error);
    throw error;
  }
}
