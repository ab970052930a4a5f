import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Far more than a person's tools open at once; a flood beyond it costs idle connections, no running answer. */
const MAX_CONNECTIONS = 10_000;

/** Files, logs, standard streams, sockets that listen, and then some. */
const OTHER_DESCRIPTORS = 64;

/** A connection may need one to the upstream as well: where descriptors are few, a flood must not take those. */
export function maxConnections(descriptorLimit: number): number {
  return Math.max(1, Math.min(MAX_CONNECTIONS, Math.floor((descriptorLimit - OTHER_DESCRIPTORS) / 2)));
}

/**
 * What a connection gets, from the moment that it is to end, for a request which may be under way: a client that has just
 * connected, or keeps its connection busy, would otherwise see it cut.
 */
const LAST_REQUEST_MS = 1_000;

/** One client's. */
interface Connection {
  /** The latest answer on it; null before the first request. */
  latest: ServerResponse | null;
  /** Grows from use to use, over all connections. */
  usedAt: number;
  /** Was a request refused on it for coming too early? That answer is the last. */
  isOverrun: boolean;
  /** Resolves when it is closed, from the moment that it is to end; null before that. */
  released: Promise<void> | null;
}

/**
 * The connections of clients, and the latest answer on each. An entry lasts as long as its connection: a Map or Set that
 * took an entry in and out for each request would, each time that it makes itself anew, leave an old table behind which
 * holds those requests until the next full collection (measured: a third of all that is allocated, 60 µs per request).
 */
export class Connections {
  readonly #all = new Map<Socket, Connection>();
  readonly #most: number;
  #uses = 0;

  /** `most`: connections at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** A client has connected. At the cap the connection that was idle longest makes room; when none is idle, there is none. */
  open(socket: Socket): void {
    if (this.#all.size >= this.#most) (this.#longestIdle() ?? socket).destroy();
    if (socket.destroyed) return;
    this.#all.set(socket, { latest: null, usedAt: this.#uses++, isOverrun: false, released: null });
    socket.once("close", () => this.#all.delete(socket));
  }

  /**
   * A request has come; false when its connection cannot take it: an earlier one is still being answered (facts/threats.md
   * D8), or an earlier answer was the last on it, after which nothing may be processed (RFC 9112 section 9.6).
   */
  occupy(socket: Socket, res: ServerResponse): boolean {
    const connection = this.#all.get(socket);
    if (connection === undefined) return false;
    const { latest } = connection;
    if (isUnderWay(latest)) connection.isOverrun = true;
    if (connection.isOverrun || latest?.shouldKeepAlive === false || socket.writableEnded) return false;
    connection.latest = res;
    connection.usedAt = this.#uses++;
    if (connection.released !== null) endWith(res, socket);
    return true;
  }

  /**
   * Ends a connection with the answer that is under way on it, or with that to the request which may be; resolves when it
   * is closed.
   */
  release(socket: Socket): Promise<void> {
    const connection = this.#all.get(socket);
    if (connection === undefined) return Promise.resolve();
    connection.released ??= this.#release(socket, connection);
    return connection.released;
  }

  #release(socket: Socket, { latest }: Connection): Promise<void> {
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    if (latest !== null && isUnderWay(latest)) endWith(latest, socket);
    else setTimeout(() => this.#endIdle(socket), LAST_REQUEST_MS).unref();
    return closed;
  }

  #endIdle(socket: Socket): void {
    // Sends what is written first: an answer that has ended may not have left yet.
    if (!isUnderWay(this.#all.get(socket)?.latest ?? null)) socket.destroySoon();
  }

  /** Releases every connection. */
  async drain(): Promise<void> {
    await Promise.all([...this.#all.keys()].map((socket) => this.release(socket)));
  }

  /** Ends every connection now. */
  destroy(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  #longestIdle(): Socket | null {
    let found: Socket | null = null;
    let usedAt = Infinity;
    for (const [socket, connection] of this.#all) {
      if (connection.usedAt >= usedAt || isUnderWay(connection.latest)) continue;
      found = socket;
      usedAt = connection.usedAt;
    }
    return found;
  }
}

/** The answer says so itself, in its `Connection` header, where its head has not left yet. */
function endWith(res: ServerResponse, socket: Socket): void {
  res.shouldKeepAlive = false;
  res.once("finish", () => socket.destroySoon());
}

/** Is this answer still being written? `finish` would come too late: the client may have the last byte before it. */
function isUnderWay(res: ServerResponse | null): boolean {
  return res !== null && !res.writableEnded && !res.destroyed;
}
