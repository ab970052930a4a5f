import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ResponseObserver } from "./observed-response.ts";
import type { Observations, SentRequest } from "./observations.ts";
import { firstEvent } from "./first-event.ts";
import type { ClientBehaviour } from "./client-behaviours.ts";
import { acrossMagnitudes, between, type Random } from "./random.ts";
import type { ChaosRequest } from "./requests.ts";

/** Far beyond all limits in the configurations: an exchange that takes longer hangs. */
const HANGING_MS = 45_000;

/** One exchange of a client, or several pipelined ones, on one connection. */
export class ClientExchange {
  readonly #socket: Socket;
  readonly #behaviour: ClientBehaviour;
  readonly #random: Random;
  readonly #observations: Observations;
  readonly #requests: ChaosRequest[];
  readonly #readers: ResponseObserver[];
  /** Index of the response that is being read. */
  #at = 0;
  #hasPaused = false;
  #isOver = false;
  #resolveOver: () => void = () => {};
  readonly #over: Promise<void>;
  /** After so many body bytes of the response the client disconnects. */
  readonly #leaveAfterBytes: number;

  constructor(
    socket: Socket,
    requests: ChaosRequest[],
    behaviour: ClientBehaviour,
    random: Random,
    observations: Observations,
  ) {
    this.#socket = socket;
    this.#requests = requests;
    this.#behaviour = behaviour;
    this.#random = random;
    this.#observations = observations;
    this.#readers = requests.map(() => new ResponseObserver());
    this.#over = new Promise((resolve) => (this.#resolveOver = resolve));
    this.#leaveAfterBytes =
      behaviour.leaving?.when === "in the response" ? acrossMagnitudes(random, 1, 20_000) : Infinity;
  }

  /** True when a response says `connection: close`. */
  get saysClose(): boolean {
    return this.#readers.some((reader) => reader.hasConnectionClose);
  }

  /** Resolves when the exchange is over; to true when the connection can be reused. */
  async run(): Promise<boolean> {
    const onData = (bytes: Buffer) => this.#read(bytes);
    const onEnd = () => this.#onEnd();
    const onClose = () => this.#finish();
    this.#socket.on("data", onData).on("end", onEnd).on("close", onClose);
    if (this.#behaviour.reading === "never") this.#socket.pause();
    if (this.#socket.destroyed) this.#finish();
    const timer = setTimeout(() => this.#onHanging(), HANGING_MS);
    let isWritten = false;
    void this.#write().then((isComplete) => (isWritten = isComplete));
    await this.#over;
    clearTimeout(timer);
    this.#socket.off("data", onData).off("end", onEnd).off("close", onClose);
    this.#recordResponses();
    const isAnswered = this.#at === this.#readers.length;
    const isReusable = isWritten && isAnswered && this.#socket.writable;
    if (!isReusable) this.#socket.destroy();
    return isReusable;
  }

  /** Resolves to true when everything was written and the connection is still open. */
  async #write(): Promise<boolean> {
    const { leaving, reading } = this.#behaviour;
    const chunks = this.#requests.flatMap(piecesOf);
    const stopAt = leaving?.when === "while writing" ? between(this.#random, 0, chunks.length - 1) : Infinity;
    for (const [i, { bytes, completes }] of chunks.entries()) {
      if (this.#isOver) return false;
      if (i === stopAt) {
        await this.#put(bytes.subarray(0, Math.floor(bytes.length / 2)));
        await this.#leaveWithin(200);
        return false;
      }
      if (completes !== null) completes.isSentCompletely = true;
      await this.#put(bytes);
      if (i === 0 && this.#requests[0]?.expectsContinue === true) await this.#waitForContinue();
      if (this.#behaviour.isSlowWriter) await delay(between(this.#random, 0, 40));
    }
    if (leaving?.when === "while waiting") await this.#leaveWithin(reading === "never" ? 3_000 : 600);
    return true;
  }

  async #put(bytes: Buffer): Promise<void> {
    if (this.#socket.destroyed || this.#socket.write(bytes)) return;
    await firstEvent(this.#socket, "drain", "close");
  }

  /** Waits for the interim response, but not forever (RFC 9110 section 10.1.1). */
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
    const how = this.#behaviour.leaving?.how ?? "close";
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
      // Node itself responds to a request that its client truncates, even after another response.
      const isComplete = this.#requests.every(({ sent }) => sent.isSentCompletely);
      if (rest.length > 0 && isComplete)
        this.#observations.reportViolation("bytes after a response", this.#nonces());
      this.#finish();
    }
  }

  #continueReading(): void {
    const { leaving, reading } = this.#behaviour;
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
    this.#observations.reportViolation("an exchange that does not end", this.#nonces());
    this.#socket.destroy();
    this.#finish();
  }

  #finish(): void {
    this.#isOver = true;
    this.#resolveOver();
  }

  #recordResponses(): void {
    for (const [i, { sent }] of this.#requests.entries()) {
      const reader = this.#readers[i];
      if (reader === undefined) continue;
      sent.endedAt = performance.now();
      sent.response = reader.result();
      this.#judge(reader, sent.nonce);
      const { response } = sent;
      const what =
        response === null
          ? "nothing"
          : `${response.status} ${response.refusal ?? ""} ${response.bodyBytes} bytes`;
      this.#observations.note(
        sent.nonce,
        `client: got ${what}, ${response?.isComplete === true ? "complete" : "truncated"}`,
      );
    }
  }

  #judge({ search, fault }: ResponseObserver, nonce: string): void {
    if (search.hasKey) this.#observations.reportViolation("a key at a client", nonce);
    if (fault !== null)
      this.#observations.reportViolation("a response that is not HTTP", `${nonce}: ${fault}`);
    for (const found of search.nonces) {
      if (found !== nonce)
        this.#observations.reportViolation("another client's response", `${nonce} got ${found}`);
    }
  }

  #note(what: string): void {
    for (const { sent } of this.#requests) this.#observations.note(sent.nonce, `client: ${what}`);
  }

  #nonces(): string {
    return this.#requests.map(({ sent }) => sent.nonce).join(" ");
  }
}

/** The bytes of a request as they are written. The last part carries the request that it completes. */
function piecesOf({ head, body, sent }: ChaosRequest): { bytes: Buffer; completes: SentRequest | null }[] {
  const chunks = [head, ...body];
  return chunks.map((bytes, i) => ({ bytes, completes: i === chunks.length - 1 ? sent : null }));
}
