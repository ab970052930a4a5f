import { Agent, type ClientRequest } from "node:http";
import type { Clock } from "../../ports.ts";
import { UpstreamConnection } from "./connection.ts";
import type { Dial } from "./dial.ts";

/**
 * Idle connections that are kept, as many as Node's agent does: more than a person's tools have under way at a time, so
 * that none of theirs is closed only to be made again; what a flood leaves behind goes at once.
 */
const MOST_IDLE = 256;

/** How often those that are too old are looked for; that none of them is lent does not depend on it. */
const SWEEP_MS = 5_000;

/**
 * The connections to one upstream. Stands where Node has its Agent, whose names, copies of options and timers cost 17 of
 * the 41 µs that a request takes through Node's client; what Node wants of an agent is `addRequest`, and to be heard when
 * a socket emits `free`. The connection that was used last is lent first, so that those which nobody needs grow old.
 */
export class UpstreamPool extends Agent {
  readonly #dial: Dial;
  readonly #clock: Clock;
  readonly #all = new Set<UpstreamConnection>();
  /** The one that was used last at the end. */
  readonly #idle: UpstreamConnection[] = [];
  #mostIdle = MOST_IDLE;
  #sweeper: NodeJS.Timeout | null = null;
  /** Has a request come since the last connection that was opened ahead of one? */
  #mayWarm = true;

  constructor(dial: Dial, clock: Clock) {
    super({ keepAlive: true });
    this.#dial = dial;
    this.#clock = clock;
  }

  /** Called by Node, once for each request: lends it a connection. */
  addRequest(request: ClientRequest): void {
    this.#mayWarm = true;
    this.#dropUnusable();
    const connection = this.#idle.pop() ?? this.#open();
    connection.assign(request);
  }

  /**
   * A request may come soon: opens a connection ahead of it, unless one is there or under way. Requests that never come
   * cost one connection: the next is opened ahead only after a request has come.
   */
  preconnect(): void {
    this.#dropUnusable();
    if (!this.#mayWarm || this.#idle.length > 0) return;
    this.#mayWarm = false;
    this.#keep(this.#open());
  }

  /** Upstreams are reached another way from now on: what is lent is used to its end, and nothing is kept. */
  retire(): void {
    this.#mostIdle = 0;
    for (const { socket } of this.#idle) socket.destroy();
  }

  /** Ends every connection. */
  override destroy(): void {
    if (this.#sweeper !== null) clearTimeout(this.#sweeper);
    for (const { socket } of this.#all) socket.destroy();
  }

  #open(): UpstreamConnection {
    const socket = this.#dial.open();
    const connection = new UpstreamConnection(socket, this.#dial.readyEvent, this.#clock);
    this.#all.add(connection);
    socket.on("free", () => {
      // Node may say it twice when request and answer end together, and by then another may have the connection.
      if (connection.isGivenBack) this.#keep(connection);
    });
    socket.on("close", () => this.#forget(connection));
    return connection;
  }

  #keep(connection: UpstreamConnection): void {
    if (!connection.release() || this.#idle.length >= this.#mostIdle) {
      connection.socket.destroy();
      return;
    }
    this.#idle.push(connection);
    this.#sweeper ??= setTimeout(() => this.#sweep(), SWEEP_MS).unref();
  }

  #dropUnusable(): void {
    for (let last = this.#idle.at(-1); last !== undefined && !last.isUsable(); last = this.#idle.at(-1)) {
      this.#idle.pop();
      last.socket.destroy();
    }
  }

  #sweep(): void {
    this.#sweeper = null;
    for (const connection of this.#idle) if (!connection.isUsable()) connection.socket.destroy();
    if (this.#idle.length > 0) this.#sweeper = setTimeout(() => this.#sweep(), SWEEP_MS).unref();
  }

  #forget(connection: UpstreamConnection): void {
    this.#all.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
  }
}
