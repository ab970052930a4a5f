import { connect, type Socket } from "node:net";
import { MessageReader } from "../helpers/client/http-messages.ts";
import { ResponseCheck } from "./response-check.ts";
import type { LoadRun } from "./load-run.ts";

/** How long a response may take. */
const RESPONSE_LIMIT_MS = 20_000;

/** One connection of the load client, which carries one request at a time. */
export class Connection {
  readonly opened: Promise<void>;
  /** Resolves when it takes no more requests, for whatever reason. */
  readonly closed: Promise<void>;
  readonly #run: LoadRun;
  readonly #socket: Socket;
  readonly #reader: MessageReader;
  #check: ResponseCheck;
  /** Called when the current response is complete. */
  #onResponse: () => void = () => {};
  #isWaiting = false;
  #isLast = false;
  #sentAt = performance.now();
  #firstByteAt = 0;

  constructor(run: LoadRun) {
    this.#run = run;
    this.#check = new ResponseCheck("json", []);
    this.#reader = new MessageReader({
      onHead: ({ start }) => {
        if (!start.startsWith("HTTP/1.1 200 ")) this.#fail(`answered ${start}`);
      },
      onBody: (bytes, from, to) => this.#check.take(bytes, from, to),
      onEnd: () => this.#onEnd(),
    });
    const socket = connect({ port: run.load.port, host: "127.0.0.1", noDelay: true });
    this.#socket = socket;
    socket.on("data", (data: Buffer) => this.#onData(data));
    socket.on("error", (error) => this.#fail(error.message));
    socket.on("close", () => {
      if (this.#isWaiting) this.#fail("closed without a response");
    });
    socket.setTimeout(RESPONSE_LIMIT_MS, () => this.#fail("silent for too long"));
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    const connected = new Promise<void>((resolve) => socket.once("connect", resolve));
    this.opened = Promise.race([connected, this.closed]);
  }

  /** True when no other connection follows it. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /** Sends a first request that does not count for the load. Resolves when its response is complete. */
  prime(): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      this.#onResponse = resolve;
    });
    this.#write(this.#run.primer);
    return Promise.race([answered, this.closed]);
  }

  /** Sends requests in order while the run needs more; only one when each has its own connection. */
  work(): void {
    const { response, isFresh } = this.#run.load;
    this.#check = new ResponseCheck(response, this.#run.delayUs);
    this.#onResponse = () => {
      this.#run.finishRequest(this.#sentAt, this.#firstByteAt, this.#check.bytes);
      // A reset, because thousands of connections in TIME_WAIT would slow down look-ups of peers in the kernel's tables.
      if (isFresh) this.#socket.resetAndDestroy();
      else this.#sendNext();
    };
    this.#sendNext();
  }

  #sendNext(): void {
    const { load, request } = this.#run;
    // Closed while it was idle, as servers may do. The next connection carries the request.
    if (this.#socket.destroyed) return;
    if (!this.#run.startRequest()) {
      this.#isLast = true;
      this.#socket.destroy();
      return;
    }
    // For a fresh connection the time of connecting is included.
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
    for (let rest = data; rest.length > 0 && !this.#socket.destroyed;) rest = this.#reader.feed(rest);
    if (this.#reader.fault !== null) this.#fail(`answered what is not HTTP: ${this.#reader.fault}`);
  }

  #onEnd(): void {
    // It has failed by its status.
    if (this.#socket.destroyed) return;
    this.#isWaiting = false;
    const fault = this.#check.judge();
    if (fault !== null) {
      this.#fail(fault);
      return;
    }
    this.#onResponse();
    this.#check.reset();
  }

  #fail(fault: string): void {
    this.#isWaiting = false;
    this.#isLast = true;
    this.#run.fail(fault);
    this.#socket.destroy();
  }
}
