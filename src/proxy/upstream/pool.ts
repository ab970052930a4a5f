import type { RequestHead } from "../../core/http/request-head.ts";
import type { Clock } from "../../ports.ts";
import { UpstreamConnection } from "./connection.ts";
import type { Dial } from "./dial.ts";
import { UpstreamRequest, type RequestEvents } from "./upstream-request.ts";

/**
 * How many idle connections are kept, the same as in Node's agent. It is more than one person's tools use at a time, so none of
 * theirs is closed only to be opened again. Those left by a flood are closed at once.
 */
const MOST_IDLE = 256;

/** How often old idle connections are closed. None of them would be used anyway. */
const SWEEP_MS = 5_000;

/** The connections to one upstream. The most recently used one is taken first, so that superfluous ones grow old and are closed. */
export class UpstreamPool {
  readonly #dial: Dial;
  readonly #clock: Clock;
  readonly #all = new Set<UpstreamConnection>();
  /** The most recently used one is last. */
  readonly #idle: UpstreamConnection[] = [];
  #mostIdle = MOST_IDLE;
  #sweeper: NodeJS.Timeout | null = null;
  /** True when a request has come since the last connection was opened ahead of one. */
  #canPreconnect = true;

  constructor(dial: Dial, clock: Clock) {
    this.#dial = dial;
    this.#clock = clock;
  }

  /** Opens a request on an idle connection, or on a new one. */
  open(head: RequestHead, events: RequestEvents): UpstreamRequest {
    this.#canPreconnect = true;
    this.#dropUnusable();
    const connection = this.#idle.pop() ?? this.#connect();
    return new UpstreamRequest(connection, head, events, (keepAlive) => {
      if (connection.release(keepAlive)) this.#keep(connection);
      else connection.close();
    });
  }

  /**
   * Opens a connection ahead of a request that may follow soon, unless one is idle or being opened. Does nothing until a
   * request has used the last one, so that requests that never come cost one connection.
   */
  preconnect(): void {
    this.#dropUnusable();
    if (!this.#canPreconnect || this.#idle.length > 0) return;
    this.#canPreconnect = false;
    const connection = this.#connect();
    connection.rest();
    this.#keep(connection);
  }

  /** Closes the idle connections, and each of the others when its request has ended. */
  retire(): void {
    this.#mostIdle = 0;
    for (const connection of this.#idle) connection.close();
  }

  /** Closes every connection. */
  destroy(): void {
    if (this.#sweeper !== null) clearTimeout(this.#sweeper);
    for (const { socket } of this.#all) socket.destroy();
  }

  #connect(): UpstreamConnection {
    const socket = this.#dial.open();
    const connection = new UpstreamConnection(socket, this.#dial.readyEvent, this.#clock);
    this.#all.add(connection);
    socket.on("close", () => this.#forget(connection));
    return connection;
  }

  #keep(connection: UpstreamConnection): void {
    if (this.#idle.length >= this.#mostIdle) {
      connection.close();
      return;
    }
    this.#idle.push(connection);
    this.#sweeper ??= setTimeout(() => this.#sweep(), SWEEP_MS).unref();
  }

  #dropUnusable(): void {
    for (let last = this.#idle.at(-1); last !== undefined && !last.isUsable(); last = this.#idle.at(-1)) {
      this.#idle.pop();
      last.close();
    }
  }

  #sweep(): void {
    this.#sweeper = null;
    for (const connection of this.#idle) if (!connection.isUsable()) connection.close();
    if (this.#idle.length > 0) this.#sweeper = setTimeout(() => this.#sweep(), SWEEP_MS).unref();
  }

  #forget(connection: UpstreamConnection): void {
    this.#all.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
  }
}
