import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { AnswerReader } from "./answer-reader.ts";
import type { Books, Sent } from "./books.ts";
import { firstEvent } from "./first-event.ts";
import type { Manner } from "./manners.ts";
import { acrossMagnitudes, between, type Random } from "./random.ts";
import type { ChaosRequest } from "./requests.ts";

/** Far beyond all limits that the configurations of the chaos set: what takes longer hangs. */
const HANGING_MS = 45_000;

/** What a client does with one connection for the time of one exchange, or of several that it writes at once. */
export class ClientExchange {
  readonly #socket: Socket;
  readonly #manner: Manner;
  readonly #random: Random;
  readonly #books: Books;
  readonly #requests: ChaosRequest[];
  readonly #readers: AnswerReader[];
  /** Which answer is being read. */
  #at = 0;
  #hasPaused = false;
  #isOver = false;
  #resolveOver: () => void = () => {};
  readonly #over: Promise<void>;
  /** Body bytes of the answer after which the client leaves. */
  readonly #leaveAfterBytes: number;

  constructor(socket: Socket, requests: ChaosRequest[], manner: Manner, random: Random, books: Books) {
    this.#socket = socket;
    this.#requests = requests;
    this.#manner = manner;
    this.#random = random;
    this.#books = books;
    this.#readers = requests.map(() => new AnswerReader());
    this.#over = new Promise((resolve) => (this.#resolveOver = resolve));
    this.#leaveAfterBytes =
      manner.leaving?.when === "in the answer" ? acrossMagnitudes(random, 1, 20_000) : Infinity;
  }

  /** Did an answer say that the connection takes no more requests? */
  get saysClose(): boolean {
    return this.#readers.some((reader) => reader.saysClose);
  }

  /** Resolves when the exchange is over, however that came; to true when the client can write another one. */
  async run(): Promise<boolean> {
    const onData = (bytes: Buffer) => this.#read(bytes);
    const onEnd = () => this.#onEnd();
    const onClose = () => this.#finish();
    this.#socket.on("data", onData).on("end", onEnd).on("close", onClose);
    if (this.#socket.destroyed) this.#finish();
    const timer = setTimeout(() => this.#onHanging(), HANGING_MS);
    let isWritten = false;
    void this.#write().then((isWhole) => (isWritten = isWhole));
    await this.#over;
    clearTimeout(timer);
    this.#socket.off("data", onData).off("end", onEnd).off("close", onClose);
    this.#enterAnswers();
    const isAnswered = this.#at === this.#readers.length;
    const isReusable = isWritten && isAnswered && this.#socket.writable;
    if (!isReusable) this.#socket.destroy();
    return isReusable;
  }

  /** Resolves to true when everything was written, and the connection is as it was. */
  async #write(): Promise<boolean> {
    const { leaving } = this.#manner;
    const pieces = this.#requests.flatMap(piecesOf);
    const stopAt = leaving?.when === "while writing" ? between(this.#random, 0, pieces.length - 1) : Infinity;
    for (const [i, { bytes, completes }] of pieces.entries()) {
      if (this.#isOver) return false;
      if (i === stopAt) {
        await this.#put(bytes.subarray(0, Math.floor(bytes.length / 2)));
        await this.#leaveWithin(200);
        return false;
      }
      if (completes !== null) completes.isSentWhole = true;
      await this.#put(bytes);
      if (i === 0 && this.#requests[0]?.expectsContinue === true) await this.#waitForContinue();
      if (this.#manner.isSlowWriter) await delay(between(this.#random, 0, 40));
    }
    if (leaving?.when === "while waiting") await this.#leaveWithin(600);
    return true;
  }

  async #put(bytes: Buffer): Promise<void> {
    if (this.#socket.destroyed || this.#socket.write(bytes)) return;
    await firstEvent(this.#socket, "drain", "close");
  }

  /** Waits for the interim answer; not for ever, as RFC 9110 section 10.1.1 wants it. */
  async #waitForContinue(): Promise<void> {
    const deadline = performance.now() + 1_000;
    while (this.#readers[0]?.interim === 0 && !this.#isOver && performance.now() < deadline) await delay(5);
  }

  async #leaveWithin(ms: number): Promise<void> {
    await delay(between(this.#random, 0, ms));
    if (!this.#isOver) this.#leave();
  }

  #leave(): void {
    if (this.#socket.writableEnded) return;
    const how = this.#manner.leaving?.how ?? "close";
    this.#note(`leaves (${how})`);
    if (how === "half") {
      this.#socket.end();
      return;
    }
    if (how === "reset") this.#socket.resetAndDestroy();
    else this.#socket.destroy();
    this.#finish();
  }

  #read(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0 && !this.#isOver) {
      const reader = this.#readers[this.#at];
      if (reader === undefined) break;
      rest = reader.feed(rest);
      if (reader.fault !== null) return this.#finish();
      if (!reader.isComplete) break;
      this.#at += 1;
    }
    if (this.#at < this.#readers.length) this.#continueReading();
    else {
      // To a request that its client ends half-way Node has an answer of its own, whatever was answered before.
      const isWhole = this.#requests.every(({ sent }) => sent.isSentWhole);
      if (rest.length > 0 && isWhole) this.#books.offend("bytes after an answer", this.#nonces());
      this.#finish();
    }
  }

  #continueReading(): void {
    const { leaving, reading } = this.#manner;
    const bodyBytes = this.#readers[this.#at]?.bodyBytes ?? 0;
    if (leaving !== null && bodyBytes >= this.#leaveAfterBytes) return this.#leave();
    if (reading === "at once" || this.#hasPaused || bodyBytes === 0) return;
    this.#hasPaused = reading === "not for a while";
    this.#socket.pause();
    const ms = reading === "slowly" ? between(this.#random, 0, 20) : between(this.#random, 300, 1_500);
    setTimeout(() => this.#socket.resume(), ms);
  }

  #onEnd(): void {
    this.#readers[this.#at]?.end();
    if (this.#readers[this.#at]?.isComplete === true) this.#at += 1;
    this.#finish();
  }

  #onHanging(): void {
    this.#books.offend("an exchange that does not end", this.#nonces());
    this.#socket.destroy();
    this.#finish();
  }

  #finish(): void {
    this.#isOver = true;
    this.#resolveOver();
  }

  #enterAnswers(): void {
    for (const [i, { sent }] of this.#requests.entries()) {
      const reader = this.#readers[i];
      if (reader === undefined) continue;
      sent.endedAt = performance.now();
      sent.answer = reader.result();
      this.#judge(reader, sent.nonce);
      const { answer } = sent;
      const what =
        answer === null ? "nothing" : `${answer.status} ${answer.refusal ?? ""} ${answer.bodyBytes} bytes`;
      this.#books.note(
        sent.nonce,
        `client: got ${what}, ${answer?.isComplete === true ? "complete" : "broken off"}`,
      );
    }
  }

  #judge({ search, fault }: AnswerReader, nonce: string): void {
    if (search.hasKey) this.#books.offend("a key at a client", nonce);
    if (fault !== null) this.#books.offend("an answer that is not HTTP", `${nonce}: ${fault}`);
    for (const found of search.nonces) {
      if (found !== nonce) this.#books.offend("another client's answer", `${nonce} got ${found}`);
    }
  }

  #note(what: string): void {
    for (const { sent } of this.#requests) this.#books.note(sent.nonce, `client: ${what}`);
  }

  #nonces(): string {
    return this.#requests.map(({ sent }) => sent.nonce).join(" ");
  }
}

/** A request's bytes in the pieces to write; the last one says whose it is. */
function piecesOf({ head, body, sent }: ChaosRequest): { bytes: Buffer; completes: Sent | null }[] {
  const pieces = [head, ...body];
  return pieces.map((bytes, i) => ({ bytes, completes: i === pieces.length - 1 ? sent : null }));
}
