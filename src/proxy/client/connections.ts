import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Far more than one person's tools open. A flood beyond it costs idle connections and no running response. */
const MAX_CONNECTIONS = 10_000;

/** Descriptors for files, logs, standard streams and listening sockets, with some to spare. */
const OTHER_DESCRIPTORS = 64;

/**
 * The most client connections at a time. Each may need a second descriptor for its upstream connection, which a flood of
 * clients must not take.
 */
export function maxConnections(descriptorLimit: number): number {
  return Math.max(1, Math.min(MAX_CONNECTIONS, Math.floor((descriptorLimit - OTHER_DESCRIPTORS) / 2)));
}

/**
 * How long a released connection waits for a request that may be on its way. Without it, a client that has just connected, or
 * that keeps its connection busy, would see the connection reset, and another user's client would not get the reason.
 */
const LAST_REQUEST_MS = 1_000;

/**
 * A connection is closed after this many requests that did not wait for their turn. Node keeps 4 KB for each of them until the
 * response before it has been sent, which takes for ever when the client does not read.
 */
const MOST_PIPELINED = 64;

interface Connection {
  /** The latest response on it; null before the first request. */
  latest: ServerResponse | null;
  /** Order of the latest use among all connections. */
  usedAt: number;
  /** Requests that came before the previous response had been sent. The refusal of the first is the last response. */
  pipelined: number;
  /** Resolves when the connection has closed; null before it is released. */
  released: Promise<void> | null;
  /** Releases a connection that has left HTTP; null for any other. */
  retire: (() => void) | null;
}

/**
 * The client connections, with the latest response on each. An entry lasts as long as its connection. A Map or Set whose
 * entries come and go with each request leaves its old table behind each time it is rehashed, and that table keeps those
 * requests alive until the next full garbage collection (measured: a third of all allocation, 60 µs per request).
 */
export class Connections {
  readonly #all = new Map<Socket, Connection>();
  readonly #most: number;
  #uses = 0;

  /** `most` is the largest number of connections at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds a new connection. At the limit it replaces the one that has been idle longest; when none is idle, it is closed. */
  open(socket: Socket): void {
    if (this.#all.size >= this.#most) (this.#longestIdle() ?? socket).destroy();
    if (socket.destroyed) return;
    this.#all.set(socket, { latest: null, usedAt: this.#uses++, pipelined: 0, released: null, retire: null });
    socket.once("close", () => this.#all.delete(socket));
  }

  /**
   * Takes the connection for a request. Returns false when it is not free: an earlier request still waits for the end of its
   * response (SECURITY.md D8), or an earlier response was the last on it (RFC 9112 section 9.6).
   */
  occupy(socket: Socket, res: ServerResponse): boolean {
    const connection = this.#all.get(socket);
    if (connection === undefined) return false;
    const { latest } = connection;
    if (connection.pipelined > 0 || isUnsent(latest, socket)) {
      connection.pipelined += 1;
      if (connection.pipelined > MOST_PIPELINED) socket.destroy();
      return false;
    }
    if (latest?.shouldKeepAlive === false || socket.writableEnded) return false;
    connection.latest = res;
    connection.usedAt = this.#uses++;
    if (connection.released !== null) endWith(res, socket);
    return true;
  }

  /** The connection has left HTTP for another protocol: to release it is to call `retire`, which closes it as soon as that can be. */
  adopt(socket: Socket, retire: () => void): void {
    const connection = this.#all.get(socket);
    if (connection === undefined) return;
    connection.retire = retire;
    if (connection.released !== null) retire();
  }

  /** True where a response of another request is neither under way on the connection nor the last on it. */
  mayRespond(socket: Socket): boolean {
    const latest = this.#all.get(socket)?.latest ?? null;
    return latest?.headersSent !== true || (latest.writableFinished && latest.shouldKeepAlive);
  }

  /** Closes a connection after the response that is under way on it or about to be. Resolves when it has closed. */
  release(socket: Socket): Promise<void> {
    const connection = this.#all.get(socket);
    if (connection === undefined) return Promise.resolve();
    connection.released ??= this.#release(socket, connection);
    return connection.released;
  }

  #release(socket: Socket, { latest, retire }: Connection): Promise<void> {
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    if (retire !== null) retire();
    else if (latest !== null && isUnderWay(latest)) endWith(latest, socket);
    else setTimeout(() => this.#endIdle(socket), LAST_REQUEST_MS).unref();
    return closed;
  }

  #endIdle(socket: Socket): void {
    // Flushes first: a response that has ended may not have been sent yet.
    if (!isUnderWay(this.#all.get(socket)?.latest ?? null)) socket.destroySoon();
  }

  /** Releases every connection. */
  async drain(): Promise<void> {
    await Promise.all([...this.#all.keys()].map((socket) => this.release(socket)));
  }

  /** Closes every connection now. */
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

/** Closes the connection after this response, which says so in `Connection` if its head has not been sent yet. */
function endWith(res: ServerResponse, socket: Socket): void {
  res.shouldKeepAlive = false;
  res.once("finish", () => socket.destroySoon());
}

/** True until the whole response has left. The bytes of a response that has ended wait in the socket for a client that does not read. */
function isUnsent(res: ServerResponse | null, socket: Socket): boolean {
  return res !== null && (isUnderWay(res) || socket.writableLength > 0);
}

/** True until the response has been ended. Waiting for 'finish' would be too late: the client may have the last byte before. */
function isUnderWay(res: ServerResponse | null): boolean {
  return res !== null && !res.writableEnded && !res.destroyed;
}
