import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { getHeaderPolicy } from "../../core/http/header-policy.ts";
import { parseIdleLimitMs } from "../../core/http/keep-alive.ts";
import type { Clock } from "../../ports.ts";

/** For a connection that was never used: servers wait less for the first request (Apache 20 s, HAProxy often 10 s). */
const UNUSED_LIMIT_MS = 8_000;

/** One connection to an upstream, used by one request at a time. */
export class UpstreamConnection {
  readonly socket: Socket;
  readonly #clock: Clock;
  #isReady = false;
  #request: ClientRequest | null = null;
  #response: IncomingMessage | null = null;
  #limitMs = UNUSED_LIMIT_MS;
  /** When it became idle, by wall clock and by monotonic clock. */
  #wallMs = 0;
  #tickMs = 0;

  /** `socket` emits `readyEvent` when it can be written to. */
  constructor(socket: Socket, readyEvent: string, clock: Clock) {
    this.socket = socket;
    this.#clock = clock;
    socket.once(readyEvent, () => (this.#isReady = true));
    // 'close' follows and does the cleanup. Without a listener, an error on an idle connection would crash the process.
    socket.on("error", () => {});
    // Stays attached: adding and removing it for each request costs 6 µs.
    socket.on("data", () => this.#onData());
  }

  /** True once its request has ended, which Node then calls destroyed. */
  get isReleased(): boolean {
    return this.#request?.destroyed === true;
  }

  /** Detaches it from its request. Returns false when it cannot be used again. */
  release(): boolean {
    this.#request = null;
    this.#response = null;
    // As Node's agent does. Otherwise the idle socket would keep its last request alive.
    Reflect.set(this.socket, "_httpMessage", null);
    this.#wallMs = this.#clock.now();
    this.#tickMs = this.#clock.monotonic();
    return this.isUsable();
  }

  /** True for an idle connection that is open and has not been idle for longer than the upstream tolerates. */
  isUsable(): boolean {
    const { readyState } = this.socket;
    if (readyState !== "open" && readyState !== "opening") return false;
    // By both clocks: the monotonic one may stand still while a laptop sleeps, and the wall clock may be set back.
    const idleMs = Math.max(this.#clock.monotonic() - this.#tickMs, this.#clock.now() - this.#wallMs);
    return idleMs < this.#limitMs;
  }

  /** Gives it to a request, which waits for the handshakes of a new connection. */
  assign(request: ClientRequest): void {
    this.#request = request;
    request.reusedSocket = this.#isReady;
    request.on("response", this.#onResponse);
    request.onSocket(this.socket);
  }

  readonly #onResponse = (response: IncomingMessage): void => {
    this.#response = response;
    const { rawHeaders } = response;
    // Not `headers`, which Node builds on first access: 3 µs.
    const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && getHeaderPolicy(name).name === "keep-alive");
    this.#limitMs = parseIdleLimitMs(at === -1 ? undefined : rawHeaders[at + 1]);
  };

  /**
   * Closes the connection on unsolicited data: bytes on an idle connection, or after a complete response that is still being
   * delivered. The next client must not get them as its response (SECURITY.md C7). The listener also makes Node notice the end
   * of an idle connection. It sees the chunk that completes a response before Node has parsed it.
   */
  #onData(): void {
    if (this.#request === null || this.#response?.complete === true) this.socket.destroy();
  }
}
