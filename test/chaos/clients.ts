import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Observations } from "./observations.ts";
import { ClientExchange } from "./client-exchange.ts";
import {
  IGNORES_CLOSE,
  NEVER_READS,
  drawClientBehaviour,
  type ClientBehaviour,
} from "./client-behaviours.ts";
import { chance, createRandom, type Random } from "./random.ts";
import { createRequest } from "./requests.ts";

/** What the clients need to know of the run. */
export interface ClientsOptions {
  seed: string;
  /** `chaos-XXXXXXXX`, the beginning of all nonces. */
  run: string;
  observations: Observations;
  concurrency: number;
  /** Where the daemon listens now. */
  port(): number;
  /** Called before each exchange. */
  mayContinue(): boolean;
}

/** The pause after a refused connection, while the daemon is restarting. */
const RECONNECT_MS = 25;

/** The share of clients that ignore `connection: close`. */
const IGNORE_CLOSE_SHARE = 0.2;

/** Runs random clients, a fixed number at a time, while `mayContinue` allows it. */
export class Clients {
  readonly #options: ClientsOptions;
  /** Connections that the daemon has announced to close, with the nonce of the request in whose response it did. */
  readonly #closing = new WeakMap<Socket, string>();
  #count = 0;
  #exchanges = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  /** The number of requests so far. */
  get count(): number {
    return this.#count;
  }

  /** Resolves when the last exchange has ended and every connection is closed. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.concurrency }, () => this.#one()));
  }

  /** Opens so many connections at once whose clients do not read. Resolves when all of them have left. */
  async crowd(size: number): Promise<void> {
    const sockets = await Promise.all(Array.from({ length: size }, () => open(this.#options.port())));
    const opened = sockets.filter((socket) => socket !== null);
    await Promise.all(opened.map((socket) => this.#exchange(socket, NEVER_READS)));
  }

  /** Runs one client after another, on a connection that is reused while it is open and the client wants to. */
  async #one(): Promise<void> {
    const onIdleData = () => this.#options.observations.reportViolation("unsolicited bytes", "a client");
    const connection: { kept: Socket | null } = { kept: null };
    while (this.#options.mayContinue()) {
      const { kept } = connection;
      // A connection that the daemon has ended cannot be used, although our direction is still open.
      const socket = kept?.readable === true ? kept : await open(this.#options.port());
      socket?.off("data", onIdleData);
      if (socket === null) await delay(RECONNECT_MS);
      const isKept = socket !== null && (await this.#exchange(socket));
      if (isKept) socket.on("data", onIdleData);
      connection.kept = isKept ? socket : null;
    }
    connection.kept?.destroy();
  }

  #drawBehaviour(socket: Socket, random: Random): ClientBehaviour {
    return this.#closing.has(socket) ? IGNORES_CLOSE : drawClientBehaviour(this.#exchanges++, random);
  }

  /** Resolves to true when the connection is kept. `wanted` is a behaviour that is not drawn. */
  async #exchange(socket: Socket, wanted: ClientBehaviour | null = null): Promise<boolean> {
    const { seed, run, observations } = this.#options;
    const random = createRandom(`${seed} client ${this.#count}`);
    const behaviour = wanted ?? this.#drawBehaviour(socket, random);
    const port = socket.remotePort ?? 0;
    const requests = Array.from({ length: behaviour.requests }, () => {
      const nonce = `${run}-${String(this.#count).padStart(7, "0")}`;
      this.#count += 1;
      const request = createRequest({ nonce, port, behaviour, random });
      observations.sent.set(nonce, request.sent);
      const [line] = request.head.toString("latin1").split("\r\n", 1);
      const after = this.#closing.get(socket) ?? "";
      observations.note(
        nonce,
        `client: ${behaviour.name} ${after}, ${line}, from ${socket.localPort} to ${port}`,
      );
      return request;
    });
    const exchange = new ClientExchange(socket, requests, behaviour, random, observations);
    const isReusable = await exchange.run();
    if (exchange.saysClose) this.#closing.set(socket, requests.at(-1)?.sent.nonce ?? "");
    if (isReusable && chance(random, exchange.saysClose ? IGNORE_CLOSE_SHARE : 0.7)) return true;
    socket.destroy();
    return false;
  }
}

/** Opens a connection; null when it is refused. */
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
