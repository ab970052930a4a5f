import { Socket } from "node:net";
import { parseIdleLimitMs } from "../../core/http/keep-alive.ts";
import type { Clock } from "../../ports.ts";

/** For a connection that was never used: servers wait less for the first request (Apache 20 s, HAProxy often 10 s). */
const UNUSED_LIMIT_MS = 8_000;

const NOTHING = Buffer.alloc(0);
/**
 * How long a connection rests after a response. What an upstream sends without being asked mostly follows within a millisecond or
 * two; the rest is for a busy machine. docs/performance.md says what it costs.
 */
export const REST_MS = 20;

/** The request that has a connection. It is told of everything that happens on it until it is detached. */
export interface ConnectionUser {
  /** The handshakes of a new connection are done. */
  onReady(): void;
  /** Bytes have arrived. They belong to the user. */
  onBytes(bytes: Buffer): void;
  /** The upstream sends nothing more. */
  onEnd(): void;
  /** The connection has failed or is closed. */
  onBroken(error: Error): void;
}

/** One connection to an upstream, used by one request at a time. */
export class UpstreamConnection {
  readonly socket: Socket;
  readonly #clock: Clock;
  readonly #isSecure: boolean;
  #isReady = false;
  #user: ConnectionUser | null = null;
  /** True once there was a response on it. */
  #isUsed = false;
  #limitMs = UNUSED_LIMIT_MS;
  /** When it became idle, by wall clock and by monotonic clock. */
  #wallMs = 0;
  #tickMs = 0;

  /** `socket` emits `readyEvent` when it can be written to. */
  constructor(socket: Socket, readyEvent: string, clock: Clock) {
    this.socket = socket;
    this.#clock = clock;
    this.#isSecure = readyEvent === "secureConnect";
    leaveFailuresToReads(socket);
    // All listeners stay attached: adding and removing them for each request costs more than their work.
    socket.once(readyEvent, () => {
      this.#isReady = true;
      this.#user?.onReady();
    });
    socket.on("data", (bytes) => this.#onData(bytes));
    // An end that must not be trusted has destroyed the socket, and its error follows (dial.ts).
    socket.on("end", () => {
      if (!socket.destroyed) this.#user?.onEnd();
    });
    socket.on("error", (error) => this.#user?.onBroken(error));
    socket.on("close", () => this.#user?.onBroken(new Error("the upstream closed the connection")));
  }

  /** True once the handshakes are done. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Gives it to a request, which waits for the handshakes of a new connection. */
  assign(user: ConnectionUser): void {
    this.#user = user;
  }

  /**
   * Calls back if the upstream has ended the connection; if it has reset it, the user's `onBroken` follows. To be called once the end has
   * been reported: libuv reports a reset that arrives soon after the last bytes as an end, and only what is written then fails. So nothing
   * is written. An end over TLS is certain (dial.ts).
   */
  confirmEnd(done: () => void): void {
    if (this.#isSecure || this.socket.writableLength > 0) {
      done();
      return;
    }
    // Not the socket's own `write`, which Node replaces at the end with one that always fails.
    Socket.prototype.write.call(this.socket, NOTHING, undefined, (error?: Error | null) => {
      if (error === undefined || error === null) done();
    });
  }

  /** Takes it from its request, which can no longer use it. */
  close(): void {
    this.#user = null;
    this.socket.destroy();
  }

  /**
   * Takes it from its request, which is over. `keepAlive` is that header of the response. Returns false when it cannot be used
   * again.
   */
  release(keepAlive: string | undefined): boolean {
    this.#isUsed = true;
    this.#limitMs = parseIdleLimitMs(keepAlive);
    this.rest();
    return this.isUsable();
  }

  /** It is idle from now on. Takes it from a request that has sent nothing on it. */
  rest(): void {
    this.#user = null;
    this.#wallMs = this.#clock.now();
    this.#tickMs = this.#clock.monotonic();
  }

  /** How long it still has to rest, in milliseconds; 0 or less when it has. `nowMs` is the monotonic clock's. */
  restMs(nowMs: number): number {
    return this.#isUsed ? this.#tickMs + REST_MS - nowMs : 0;
  }

  /** True for an idle connection that is open and has not been idle for longer than the upstream tolerates. */
  isUsable(): boolean {
    const { readyState } = this.socket;
    if (readyState !== "open" && readyState !== "opening") return false;
    // By both clocks: the monotonic one may stand still while a laptop sleeps, and the wall clock may be set back.
    const idleMs = Math.max(this.#clock.monotonic() - this.#tickMs, this.#clock.now() - this.#wallMs);
    return idleMs < this.#limitMs;
  }

  /** Closes the connection on unsolicited data: the next client must not get it as its response (SECURITY.md C7). */
  #onData(bytes: Buffer): void {
    if (this.#user === null) this.socket.destroy();
    else this.#user.onBytes(bytes);
  }
}

/** What a write fails with once the other end has reset the connection. */
const RESET_CODES = new Set(["EPIPE", "ECONNRESET"]);

/**
 * Has a socket ended by what is read from it, not by a write that fails on a connection that was reset. Node destroys a socket whose write
 * fails, and then what has arrived and was not read is lost: a response with which an upstream refuses the rest of a long body, and closes.
 * The reads end with the same reset.
 */
function leaveFailuresToReads(socket: Socket): void {
  const [write, writev] = [socket._write.bind(socket), socket._writev?.bind(socket)];
  const unlessReset =
    (done: (error?: NodeJS.ErrnoException | null) => void) => (error?: NodeJS.ErrnoException | null) => {
      const wasReset = RESET_CODES.has(error?.code ?? "");
      if (!wasReset || socket.readableEnded) done(error);
    };
  socket._write = (chunk, encoding, done) => write(chunk, encoding, unlessReset(done));
  if (writev !== undefined) socket._writev = (chunks, done) => writev(chunks, unlessReset(done));
}
