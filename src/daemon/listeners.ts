import type { ConnectionHandler, Listener } from "../proxy/client/listener.ts";
import { adopt, listen } from "../proxy/client/listener.ts";
import { portTaken } from "./port-holder.ts";

/** Where the daemon listens: on the sockets that a service manager handed over, and on its own. */
export class Listeners {
  readonly #door: ConnectionHandler;
  /** Stays until the end, whatever port is configured: who connects there would wait for an answer otherwise. */
  readonly #adopted: Listener;
  #own: Listener;
  /** Those of earlier ports, as long as something runs on them. */
  readonly #old = new Set<Listener>();

  private constructor(door: ConnectionHandler, adopted: Listener, own: Listener) {
    this.#door = door;
    this.#adopted = adopted;
    this.#own = own;
  }

  /** Rejects with a Failure when the port is taken, or when `descriptors` has what is no socket on loopback. */
  static async open(door: ConnectionHandler, port: number, descriptors: readonly number[] = []): Promise<Listeners> {
    const adopted = await adopt(descriptors, door);
    try {
      return new Listeners(door, adopted, await listenOn(port, door, adopted));
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

  /** Opens what a configured port needs, without giving up the present one; null when that stays. */
  async prepare(port: number): Promise<Listener | null> {
    return port === this.port || port === 0 ? null : listenOn(port, this.#door, this.#adopted);
  }

  /** New connections go to what {@link prepare} has opened; what runs on the old port runs on. */
  moveTo(listener: Listener): void {
    const old = this.#own;
    this.#own = listener;
    this.#old.add(old);
    void old.close().then(() => this.#old.delete(old));
  }

  /** Stops accepting. Connections to a handed-over socket wait there for the next process. */
  close(): void {
    void this.#adopted.close();
    void this.#own.close();
  }

  /** Closes every connection, whatever runs on it. */
  async destroy(): Promise<void> {
    await Promise.all([this.#adopted, this.#own, ...this.#old].map((listener) => listener.destroy()));
  }
}

/** A taken port becomes a Failure that says who has it. */
async function listenOn(port: number, door: ConnectionHandler, adopted: Listener): Promise<Listener> {
  try {
    return await listen(port, door, { except: adopted.addresses });
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "EADDRINUSE") throw portTaken(port, error);
    throw error;
  }
}
