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

/** The connections of clients, and the latest answer on each. */
export class Connections {
  /** Least recently used first; null before the first request. */
  readonly #latest = new Map<Socket, ServerResponse | null>();
  /** Those on which a request was refused for coming too early: that answer is the last on them. */
  readonly #overrun = new WeakSet<Socket>();
  readonly #most: number;

  /** `most`: connections at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** A client has connected. At the cap the connection that was idle longest makes room; when none is idle, there is none. */
  open(socket: Socket): void {
    if (this.#latest.size >= this.#most) (this.#longestIdle() ?? socket).destroy();
    if (socket.destroyed) return;
    this.#latest.set(socket, null);
    socket.once("close", () => this.#latest.delete(socket));
  }

  /**
   * A request has come; false when its connection cannot take it: an earlier one is still being answered (facts/threats.md
   * D8), or an earlier answer was the last on it, after which nothing may be processed (RFC 9112 section 9.6).
   */
  occupy(socket: Socket, res: ServerResponse): boolean {
    const latest = this.#latest.get(socket) ?? null;
    if (isUnderWay(latest)) this.#overrun.add(socket);
    if (this.#overrun.has(socket) || latest?.shouldKeepAlive === false || socket.writableEnded) return false;
    this.#latest.delete(socket);
    this.#latest.set(socket, res);
    return true;
  }

  /** Ends a connection with the answer that is under way on it; resolves when it is closed. */
  release(socket: Socket): Promise<void> {
    const res = this.#latest.get(socket) ?? null;
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    if (res !== null && isUnderWay(res)) {
      res.shouldKeepAlive = false;
      res.once("finish", () => socket.destroySoon());
    } else {
      // Sends what is written first: an answer that has ended may not have left yet.
      socket.destroySoon();
    }
    return closed;
  }

  /** Releases every connection. */
  async drain(): Promise<void> {
    await Promise.all([...this.#latest.keys()].map((socket) => this.release(socket)));
  }

  /** Ends every connection now. */
  destroy(): void {
    for (const socket of this.#latest.keys()) socket.destroy();
  }

  #longestIdle(): Socket | null {
    for (const [socket, res] of this.#latest) if (!isUnderWay(res)) return socket;
    return null;
  }
}

/** Is this answer still being written? `finish` would come too late: the client may have the last byte before it. */
function isUnderWay(res: ServerResponse | null): boolean {
  return res !== null && !res.writableEnded && !res.destroyed;
}
