import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Books } from "./books.ts";
import { ClientExchange } from "./exchange.ts";
import { DEAF, drawManner } from "./manners.ts";
import { chance, createRandom } from "./random.ts";
import { createRequest } from "./requests.ts";

/** What the clients need to know of the run. */
export interface ClientsOrder {
  seed: string;
  /** `chaos-XXXXXXXX`, what all names of requests begin with. */
  run: string;
  books: Books;
  concurrency: number;
  /** Where the daemon listens now. */
  port(): number;
  /** Asked before each exchange. */
  mayGoOn(): boolean;
}

/** After a connection that was refused: the daemon is being started again. */
const AGAIN_MS = 25;

/** So many clients do not hear that a connection is to be closed. */
const DEAF_SHARE = 0.2;

/** Random clients, so many at a time, until they may not go on. */
export class Clients {
  readonly #order: ClientsOrder;
  /** Connections that take no more requests, as the daemon said in the answer to this one. */
  readonly #closing = new WeakMap<Socket, string>();
  #count = 0;
  #exchanges = 0;

  constructor(order: ClientsOrder) {
    this.#order = order;
  }

  /** Requests begun. */
  get count(): number {
    return this.#count;
  }

  /** Resolves when the last exchange has ended and every connection is closed. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#order.concurrency }, () => this.#one()));
  }

  /** One client after another, on a connection that is kept for as long as it lasts and the client wants. */
  async #one(): Promise<void> {
    const onIdleData = () => this.#order.books.offend("bytes that nobody asked for", "a client");
    const connection: { kept: Socket | null } = { kept: null };
    while (this.#order.mayGoOn()) {
      const { kept } = connection;
      // One that the daemon has ended meanwhile is no good, although our half of it is still open.
      const socket = kept?.readable === true ? kept : await open(this.#order.port());
      socket?.off("data", onIdleData);
      if (socket === null) await delay(AGAIN_MS);
      const isKept = socket !== null && (await this.#exchange(socket));
      if (isKept) socket.on("data", onIdleData);
      connection.kept = isKept ? socket : null;
    }
    connection.kept?.destroy();
  }

  /** Resolves to true when the connection is to be kept. */
  async #exchange(socket: Socket): Promise<boolean> {
    const { seed, run, books } = this.#order;
    const random = createRandom(`${seed} client ${this.#count}`);
    const manner = this.#closing.has(socket) ? DEAF : drawManner(this.#exchanges++, random);
    const port = socket.remotePort ?? 0;
    const requests = Array.from({ length: manner.requests }, () => {
      const nonce = `${run}-${String(this.#count).padStart(7, "0")}`;
      this.#count += 1;
      const request = createRequest({ nonce, port, manner, random });
      books.sent.set(nonce, request.sent);
      const [line] = request.head.toString("latin1").split("\r\n", 1);
      const after = this.#closing.get(socket) ?? "";
      books.note(nonce, `client: ${manner.name} ${after}, ${line}, from ${socket.localPort} to ${port}`);
      return request;
    });
    const exchange = new ClientExchange(socket, requests, manner, random, books);
    const isReusable = await exchange.run();
    if (exchange.saysClose) this.#closing.set(socket, requests.at(-1)?.sent.nonce ?? "");
    if (isReusable && chance(random, exchange.saysClose ? DEAF_SHARE : 0.7)) return true;
    socket.destroy();
    return false;
  }
}

/** null when nobody listens. */
async function open(port: number): Promise<Socket | null> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  try {
    await once(socket, "connect");
    return socket;
  } catch {
    return null;
  }
}
