import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { acrossMagnitudes, between, chance, createRandom, oneOf, pick, type Random } from "../random.ts";
import type { BookEntry, Books, Kind } from "./books.ts";

/** WebSockets at a time. */
const CLIENTS = 12;

const LANES = ["", "a", "b", "c"];

/** Messages that a client sends before it waits for their ends. */
const MOST_AT_ONCE = 6;

const KINDS = [
  [12, "create"],
  [2, "warm-up"],
  [1, "forbidden"],
] as const satisfies readonly (readonly [number, Kind])[];

interface SeenEvent {
  type: string;
  item_id?: string;
  delta?: string;
  steer?: { id: string };
  error?: { code?: string; message: string };
  response?: { id: string; metadata?: { digest: string } };
}

/** Has clients open WebSockets and send messages until the daemon is gone, or until `signal`. Resolves when all have ended. */
export async function loadSockets(
  port: number,
  books: Books,
  seed: string,
  signal: AbortSignal,
): Promise<void> {
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const random = createRandom(`${seed} client ${index}`);
    while (!signal.aborted) {
      const isOpen = await new SocketClient(port, books, random, signal).run();
      // The daemon is gone, or does not take new ones.
      if (!isOpen) await delay(20);
    }
  });
  await Promise.all(clients);
}

/** One WebSocket of a client. */
class SocketClient {
  readonly #socket: WebSocket;
  readonly #books: Books;
  readonly #random: Random;
  readonly #signal: AbortSignal;
  /** By number: the text that has come so far. */
  readonly #texts = new Map<number, Hash>();
  /** Those that have not ended. */
  readonly #waiting = new Set<BookEntry>();
  /** In the order in which they were sent: each gets a refusal. */
  readonly #forbidden: BookEntry[] = [];
  /** The ids of responses that run. */
  readonly #running = new Set<string>();
  #isClosed = false;
  #progress = withResolvers<void>();

  constructor(port: number, books: Books, random: Random, signal: AbortSignal) {
    this.#books = books;
    this.#random = random;
    this.#signal = signal;
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, {
      perMessageDeflate: chance(random, 0.5),
    });
    this.#socket.on("error", () => {});
    this.#socket.on("message", (data: Buffer) => this.#take(JSON.parse(data.toString()) as SeenEvent));
    this.#socket.on("close", (code) => {
      this.#isClosed = true;
      if (code === 1012) books.count("closed with 1012");
      this.#wake();
    });
  }

  /** Returns false if it could not be opened. */
  async run(): Promise<boolean> {
    try {
      await once(this.#socket, "open");
    } catch {
      return false;
    }
    this.#books.count(this.#socket.extensions === "" ? "WebSocket" : "WebSocket with compression");
    const onAbort = () => this.#socket.terminate();
    this.#signal.addEventListener("abort", onAbort, { once: true });
    for (let left = between(this.#random, 1, 12); left > 0 && !this.#isClosed; left -= 1) await this.#talk();
    this.#signal.removeEventListener("abort", onAbort);
    if (chance(this.#random, 0.5)) this.#socket.close(1000);
    else this.#socket.terminate();
    if (!this.#isClosed) await once(this.#socket, "close");
    return true;
  }

  /** Sends some messages, and then mostly waits for what comes of them. */
  async #talk(): Promise<void> {
    const random = this.#random;
    for (let left = between(random, 1, MOST_AT_ONCE); left > 0 && !this.#isClosed; left -= 1)
      this.#ask(oneOf(random, LANES), pick(random, KINDS));
    if (chance(random, 0.1)) await this.#beSlow();
    const leaves = chance(random, 0.1);
    const patience = between(random, 1, 400);
    const until = performance.now() + patience;
    while (!this.#isClosed && this.#waiting.size > 0) {
      if (chance(random, 0.03)) this.#steer();
      if (leaves && performance.now() > until) {
        this.#books.count("client left in mid-response");
        this.#socket.terminate();
        return;
      }
      await Promise.race([this.#progress.promise, delay(50)]);
    }
  }

  #ask(lane: string, kind: Exclude<Kind, "steer">): void {
    const entry = this.#books.open(kind);
    const { number } = entry;
    const isForbidden = kind === "forbidden";
    if (isForbidden) this.#forbidden.push(entry);
    this.#waiting.add(entry);
    this.#send({
      type: "response.create",
      model: isForbidden ? "gpt-evil" : "gpt-good",
      ...(lane !== "" && { stream_id: lane }),
      ...(kind === "warm-up" && { generate: false }),
      input: "words ".repeat(acrossMagnitudes(this.#random, 1, 40_000)),
      client_metadata: { session_id: String(number) },
    });
  }

  #steer(): void {
    const [id] = this.#running;
    if (id === undefined) return;
    this.#running.delete(id);
    const entry = this.#books.open("steer");
    this.#waiting.add(entry);
    this.#send({
      type: "response.steer",
      previous_response_id: id,
      input: "another way",
      client_metadata: { session_id: String(entry.number) },
    });
  }

  #send(message: object): void {
    const text = JSON.stringify(message);
    if (!chance(this.#random, 0.2)) {
      this.#socket.send(text);
      return;
    }
    this.#books.count("fragmented message");
    const at = between(this.#random, 0, text.length);
    this.#socket.send(text.slice(0, at), { fin: false });
    this.#socket.ping("between");
    this.#socket.send(text.slice(at), { fin: true });
  }

  async #beSlow(): Promise<void> {
    this.#books.count("slow reader");
    this.#socket.pause();
    await delay(between(this.#random, 50, 500));
    this.#socket.resume();
  }

  #take({ type, item_id: item, delta, response, error, steer }: SeenEvent): void {
    if (type === "response.output_text.delta") this.#textOf(Number(item)).update(delta ?? "");
    else if (type === "response.created") {
      this.#running.add(response?.id ?? "");
      const entry = this.#books.entryOf(response?.id.slice("resp_".length) ?? null);
      if (entry !== undefined) entry.seenAt ??= performance.now();
    } else if (/^response\.(?:completed|incomplete|failed)$/.test(type)) {
      this.#running.delete(response?.id ?? "");
      const entry = this.#books.entryOf(response?.id.slice("resp_".length) ?? null);
      const digest = entry === undefined ? "" : this.#textOf(entry.number).digest("hex");
      if (digest !== response?.metadata?.digest)
        this.#books.faults.push(`message ${entry?.number} got another text than was sent`);
      this.#settle(entry);
    } else if (type === "error") {
      const isRefused = error?.code === "model_not_allowed";
      this.#settle(
        isRefused ? this.#forbidden.shift() : this.#books.entryOf(error?.message ?? null),
        ` (${error?.code}: ${error?.message})`,
      );
    } else if (type === "response.steer.failed") {
      const entry = this.#books.entryOf(steer?.id.slice("steer_".length) ?? null);
      if (entry !== undefined) this.#waiting.delete(entry);
    }
    this.#wake();
  }

  #textOf(number: number): Hash {
    const known = this.#texts.get(number) ?? createHash("sha256");
    this.#texts.set(number, known);
    return known;
  }

  /** @param what - of an error, its code and text, for a fault */
  #settle(entry: BookEntry | undefined, what = ""): void {
    if (entry === undefined || !this.#waiting.delete(entry)) {
      const which = entry?.number ?? "a message that was never sent";
      this.#books.faults.push(`an end of ${which} came unasked${what}`);
      return;
    }
    entry.isAnswered = true;
    this.#texts.delete(entry.number);
  }

  #wake(): void {
    this.#progress.resolve();
    this.#progress = withResolvers();
  }
}
