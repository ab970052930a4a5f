import type { RequestHead } from "../../core/http/request-head.ts";
import type { Clock } from "../../ports.ts";
import { UpstreamConnection } from "./connection.ts";
import type { Dial } from "./dial.ts";
import { UpstreamRequest, type ConnectionOwner, type RequestEvents } from "./upstream-request.ts";

/**
 * How many idle connections are kept, the same as in Node's agent. It is more than one person's tools use at a time, so none of
 * theirs is closed only to be opened again. Those left by a flood are closed at once.
 */
const MOST_IDLE = 256;

/** How often old idle connections are closed. None of them would be used anyway. */
const SWEEP_MS = 5_000;

/**
 * The connections to one upstream. One rests after a response before it is used again, because something may follow that was not
 * asked for (SECURITY.md C7). Of those that have rested, the most recently used one is taken first, so that superfluous ones grow
 * old and are closed. Where none has rested, a request takes what is ready first: a new connection, or one that has rested by then.
 */
export class UpstreamPool implements ConnectionOwner {
  readonly #dial: Dial;
  readonly #clock: Clock;
  readonly #all = new Set<UpstreamConnection>();
  /** The most recently used one is last. */
  readonly #idle: UpstreamConnection[] = [];
  /** New connections whose handshakes are not done, each with the request that waits for it. The oldest is first. */
  readonly #opening = new Map<UpstreamConnection, UpstreamRequest>();
  /** Fires when an idle connection has rested that a request of `#opening` may take. */
  #restTimer: NodeJS.Timeout | null = null;
  #mostIdle = MOST_IDLE;
  #isDestroyed = false;
  #sweeper: NodeJS.Timeout | null = null;
  /** True when a request has come since the last connection was opened ahead of one. */
  #canPreconnect = true;

  constructor(dial: Dial, clock: Clock) {
    this.#dial = dial;
    this.#clock = clock;
  }

  /** Opens a request on an idle connection that has rested, or on a new one. */
  open(head: RequestHead, events: RequestEvents): UpstreamRequest {
    this.#canPreconnect = true;
    const connection = this.#takeRested() ?? this.#takeOpening() ?? this.#connect();
    const request = new UpstreamRequest(connection, head, events, this);
    if (!connection.isReady) this.#awaitReady(connection, request);
    return request;
  }

  free(connection: UpstreamConnection, keepAlive: string | undefined): void {
    if (connection.release(keepAlive)) this.#keep(connection);
    else connection.close();
  }

  replace(request: UpstreamRequest): UpstreamConnection | null {
    if (this.#isDestroyed) return null;
    const connection = this.#connect();
    this.#awaitReady(connection, request);
    return connection;
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
    this.#isDestroyed = true;
    if (this.#sweeper !== null) clearTimeout(this.#sweeper);
    if (this.#restTimer !== null) clearTimeout(this.#restTimer);
    for (const { socket } of this.#all) socket.destroy();
  }

  #connect(): UpstreamConnection {
    const socket = this.#dial.open();
    const connection = new UpstreamConnection(socket, this.#dial.readyEvent, this.#clock);
    this.#all.add(connection);
    socket.once(this.#dial.readyEvent, () => this.#opening.delete(connection));
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
    this.#giveRestedLater();
  }

  /** Takes the most recently used of the idle connections that have rested; null when there is none. */
  #takeRested(): UpstreamConnection | null {
    if (this.#idle.length === 0) return null;
    const nowMs = this.#clock.monotonic();
    return this.#take((connection) => connection.isReady && connection.restMs(nowMs) <= 0);
  }

  /** Takes a connection that was opened ahead and whose handshakes are not done; null when there is none. */
  #takeOpening(): UpstreamConnection | null {
    return this.#take((connection) => !connection.isReady);
  }

  #take(isWanted: (connection: UpstreamConnection) => boolean): UpstreamConnection | null {
    for (let i = this.#idle.length - 1; i >= 0; i -= 1) {
      const connection = this.#idle[i];
      if (connection === undefined || !isWanted(connection)) continue;
      this.#idle.splice(i, 1);
      if (connection.isUsable()) return connection;
      connection.close();
    }
    return null;
  }

  #awaitReady(connection: UpstreamConnection, request: UpstreamRequest): void {
    this.#opening.set(connection, request);
    this.#giveRestedLater();
  }

  /** Gives idle connections, once they have rested, to requests that still wait for handshakes. */
  #giveRestedLater(): void {
    if (this.#restTimer !== null || this.#opening.size === 0) return;
    const nowMs = this.#clock.monotonic();
    const next = this.#idle.find((connection) => connection.restMs(nowMs) > 0);
    if (next !== undefined)
      this.#restTimer = setTimeout(() => this.#giveRested(), Math.ceil(next.restMs(nowMs))).unref();
  }

  #giveRested(): void {
    this.#restTimer = null;
    for (const [opening, request] of this.#opening) {
      if (opening.socket.destroyed) continue;
      const rested = this.#takeRested();
      if (rested === null) break;
      this.#opening.delete(opening);
      request.moveTo(rested);
      opening.rest();
      this.#keep(opening);
    }
    this.#giveRestedLater();
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
