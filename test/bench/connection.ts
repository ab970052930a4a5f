import { connect, type Socket } from "node:net";
import { AnswerCheck } from "./answer-check.ts";
import { AnswerReader } from "./answer-reader.ts";
import type { LoadRun } from "./load-run.ts";

/** Whatever has not answered by then does not. */
const PATIENCE_MS = 20_000;

/** One connection of the load client, with one request at a time on it. */
export class Connection {
  readonly opened: Promise<void>;
  /** Resolves when it takes no more requests, whatever the reason. */
  readonly closed: Promise<void>;
  readonly #run: LoadRun;
  readonly #socket: Socket;
  readonly #reader: AnswerReader;
  #check: AnswerCheck;
  /** What follows when the answer at hand has come. */
  #onAnswer: () => void = () => {};
  #isWaiting = false;
  #isLast = false;
  #sentAt = performance.now();
  #firstByteAt = 0;

  constructor(run: LoadRun) {
    this.#run = run;
    this.#check = new AnswerCheck("json", []);
    this.#reader = new AnswerReader({
      onBody: (bytes, from, to) => this.#check.take(bytes, from, to),
      onEnd: () => this.#onEnd(),
      onFault: (answered) => this.#fail(`answered ${answered}`),
    });
    const socket = connect({ port: run.load.port, host: "127.0.0.1", noDelay: true });
    this.#socket = socket;
    socket.on("data", (data: Buffer) => this.#onData(data));
    socket.on("error", (error) => this.#fail(error.message));
    socket.on("close", () => {
      if (this.#isWaiting) this.#fail("closed without an answer");
    });
    socket.setTimeout(PATIENCE_MS, () => this.#fail("silent for too long"));
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    const connected = new Promise<void>((resolve) => socket.once("connect", resolve));
    this.opened = Promise.race([connected, this.closed]);
  }

  /** Is there no more to be done after it? */
  get isLast(): boolean {
    return this.#isLast;
  }

  /** Sends a first request whose cost is that of the connection, and none of the load's. Resolves with its answer. */
  prime(): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      this.#onAnswer = resolve;
    });
    this.#write(this.#run.primer);
    return Promise.race([answered, this.closed]);
  }

  /** Sends one request after another while the run wants more; one only where each is to have its own connection. */
  work(): void {
    const { answer, isFresh } = this.#run.load;
    this.#check = new AnswerCheck(answer, this.#run.delayUs);
    this.#onAnswer = () => {
      this.#run.done(this.#sentAt, this.#firstByteAt, this.#check.bytes);
      // Reset, not closed: thousands of connections in TIME_WAIT would slow down whoever asks the kernel for a peer.
      if (isFresh) this.#socket.resetAndDestroy();
      else this.#sendNext();
    };
    this.#sendNext();
  }

  #sendNext(): void {
    const { load, request } = this.#run;
    // Closed while it was idle, as servers may: the next connection carries the request.
    if (this.#socket.destroyed) return;
    if (!this.#run.begin()) {
      this.#isLast = true;
      this.#socket.destroy();
      return;
    }
    // The time of a fresh connection includes that of connecting.
    if (!load.isFresh) this.#sentAt = performance.now();
    this.#firstByteAt = 0;
    this.#write(request);
  }

  #write(request: Buffer): void {
    this.#isWaiting = true;
    this.#socket.write(request);
  }

  #onData(data: Buffer): void {
    if (this.#firstByteAt === 0) this.#firstByteAt = performance.now();
    this.#reader.feed(data);
  }

  #onEnd(): void {
    this.#isWaiting = false;
    const fault = this.#check.judge();
    if (fault !== null) {
      this.#fail(fault);
      return;
    }
    this.#onAnswer();
    this.#check.reset();
  }

  #fail(fault: string): void {
    this.#isWaiting = false;
    this.#isLast = true;
    this.#run.fail(fault);
    this.#socket.destroy();
  }
}
