import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocketServer, type WebSocket } from "ws";
import { acrossMagnitudes, between, chance, createRandom, pick, type Random } from "../random.ts";
import { outputTokens, type BookEntry, type Books, type Ending } from "./books.ts";

/** The members of a message that the upstream looks at. */
interface Message {
  type: string;
  stream_id?: string;
  previous_response_id?: string;
  client_metadata?: { session_id?: string };
}

/** The share of responses at which it cuts the connection, and of those that it does not end by itself in time. */
const CUT = 0.02;

const ENDINGS = [
  [8, "completed"],
  [1, "incomplete"],
  [1, "failed"],
  [1, "error"],
] as const satisfies readonly (readonly [number, Ending])[];

/** Starts an upstream that responds at random and books what it does. */
export async function startSocketUpstream(
  books: Books,
  seed: string,
): Promise<{ baseUrl: string; sockets: ReadonlySet<WebSocket>; close(): void }> {
  const http = createServer((_req, res) => res.writeHead(404).end());
  const random = createRandom(`${seed} compression`);
  const perMessageDeflate = {
    clientNoContextTakeover: chance(random, 0.2),
    serverNoContextTakeover: chance(random, 0.2),
  };
  const server = new WebSocketServer({ server: http, path: "/v1/responses", perMessageDeflate });
  server.on("connection", (socket) => new UpstreamSocket(socket, books, seed).listen());
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    sockets: server.clients,
    close() {
      for (const socket of server.clients) socket.terminate();
      http.closeAllConnections();
      http.close();
    },
  };
}

/** A WebSocket of the upstream: in a lane one response comes after the other, and lanes run side by side. */
class UpstreamSocket {
  readonly #socket: WebSocket;
  readonly #books: Books;
  readonly #seed: string;
  readonly #lanes = new Map<string, Promise<void>>();
  /** By the id of a response that runs: the steer that it has got. */
  readonly #running = new Map<string, BookEntry | null>();

  constructor(socket: WebSocket, books: Books, seed: string) {
    this.#socket = socket;
    this.#books = books;
    this.#seed = seed;
  }

  listen(): void {
    this.#socket.on("error", () => {});
    this.#socket.on("message", (data: Buffer) => this.#take(JSON.parse(data.toString()) as Message));
  }

  #take(message: Message): void {
    const entry = this.#books.entryOf(message.client_metadata?.session_id ?? null);
    if (entry === undefined) {
      this.#books.faults.push("a message without a number reached the upstream");
      return;
    }
    entry.arrivals += 1;
    entry.arrivedAt ??= performance.now();
    const lane = message.stream_id ?? "";
    if (message.type === "response.steer") {
      this.#steer(message.previous_response_id ?? "", entry, lane);
      return;
    }
    const before = this.#lanes.get(lane) ?? Promise.resolve();
    this.#lanes.set(
      lane,
      before.then(() => this.#respond(entry, lane, null)),
    );
  }

  #steer(id: string, entry: BookEntry, lane: string): void {
    const steer = { id: `steer_${entry.number}`, previous_response_id: id };
    if (this.#running.get(id) !== null) {
      this.#send(lane, { type: "response.steer.failed", steer, error: { code: "response_not_found" } });
      return;
    }
    this.#running.set(id, entry);
    this.#books.count("accepted steer");
    this.#send(lane, { type: "response.steer.accepted", steer });
  }

  /** Sends a response, and its successors if it is steered. */
  async #respond(entry: BookEntry, lane: string, previous: string | null): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const random = createRandom(`${this.#seed} response ${entry.number}`);
    const wanted = entry.kind === "warm-up" ? "completed" : pick(random, ENDINGS);
    if (wanted === "error" && previous === null) {
      await delay(between(random, 0, 20));
      if (this.#end(entry, "error"))
        this.#send(lane, { type: "error", status: 500, error: { message: String(entry.number) } });
      return;
    }
    const id = `resp_${entry.number}`;
    // No document says that a successor names what it follows.
    const named = chance(random, 0.5) ? previous : null;
    const response = { id, model: "gpt-good", status: "in_progress", previous_response_id: named };
    this.#running.set(id, null);
    // What is compressed is sent later, or not at all if the connection ends first.
    this.#socket.send(write(lane, { type: "response.created", response }), (error) => {
      if (!error) entry.begunAt ??= performance.now();
    });
    const digest = await this.#generate(entry, lane, random);
    if (digest === null) return;
    const steered = this.#running.get(id) ?? null;
    this.#running.delete(id);
    // A response that ends before its steer is applied stays what it is (docs/websocket.md).
    const ending: Ending = steered !== null && chance(random, 0.7) ? "incomplete" : wanted;
    const status = ending === "error" ? "failed" : ending;
    if (!this.#end(entry, status)) return;
    const usage = {
      input_tokens: entry.number,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens(entry),
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: entry.number + outputTokens(entry),
    };
    const last = {
      type: `response.${status}`,
      response: { ...response, status, usage, metadata: { digest } },
    };
    this.#send(lane, last, random);
    if (chance(random, 0.1)) this.#send(lane, { ...last, type: "response.done" });
    if (chance(random, 0.3)) this.#send(lane, { type: "codex.rate_limits", rate_limits: null });
    if (steered === null) return;
    await delay(between(random, 0, 60));
    await this.#respond(steered, lane, id);
  }

  /** Sends the text of a response. Returns its digest; null if the connection is cut. */
  async #generate(entry: BookEntry, lane: string, random: Random): Promise<string | null> {
    const hash = createHash("sha256");
    const isCut = chance(random, CUT);
    const isLarge = chance(random, 0.1);
    const deltas = entry.kind === "warm-up" ? 0 : acrossMagnitudes(random, 1, 40);
    for (let at = 0; at < deltas; at += 1) {
      if (this.#socket.readyState !== this.#socket.OPEN) return null;
      const text = "text ".repeat(isLarge ? 20_000 : between(random, 1, 40));
      hash.update(text);
      this.#send(
        lane,
        { type: "response.output_text.delta", item_id: String(entry.number), delta: text },
        random,
      );
      if (chance(random, 0.05)) this.#socket.ping(String(entry.number));
      if (chance(random, 0.5)) await delay(between(random, 0, 60));
    }
    if (isCut && entry.kind !== "warm-up") {
      this.#books.count("cut by the upstream");
      this.#socket.terminate();
      return null;
    }
    return hash.digest("hex");
  }

  /** Books an end, unless there is nobody to tell. */
  #end(entry: BookEntry, ending: Ending): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false;
    entry.ending = ending;
    return true;
  }

  /** With `random`, some are sent in two frames with a ping between them. */
  #send(lane: string, event: object, random?: Random): void {
    const text = write(lane, event);
    if (random === undefined || !chance(random, 0.1)) {
      this.#socket.send(text);
      return;
    }
    this.#books.count("fragmented event");
    const at = between(random, 0, text.length);
    this.#socket.send(text.slice(0, at), { fin: false });
    this.#socket.ping("between");
    this.#socket.send(text.slice(at), { fin: true });
  }
}

function write(lane: string, event: object): string {
  return JSON.stringify({ ...event, ...(lane !== "" && { stream_id: lane }) });
}
