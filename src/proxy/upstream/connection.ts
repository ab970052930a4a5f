import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { headerName } from "../../core/http/header-name.ts";
import { idleLimitMs } from "../../core/http/keep-alive.ts";
import type { Clock } from "../../ports.ts";

/**
 * For a connection that was never used: servers wait less for the first request (Apache 20 s, HAProxy often 10 s) than
 * for the next.
 */
const UNUSED_LIMIT_MS = 8_000;

/** One connection to an upstream, lent to one request at a time. */
export class UpstreamConnection {
  readonly socket: Socket;
  readonly #clock: Clock;
  #isReady = false;
  #borrower: ClientRequest | null = null;
  #answer: IncomingMessage | null = null;
  #limitMs = UNUSED_LIMIT_MS;
  /** Since when it is idle, by either clock. */
  #wallMs = 0;
  #tickMs = 0;

  /** `socket` emits `readyEvent` when it can be sent to. */
  constructor(socket: Socket, readyEvent: string, clock: Clock) {
    this.socket = socket;
    this.#clock = clock;
    socket.once(readyEvent, () => (this.#isReady = true));
    // Followed by `close`, which is where it is dealt with; unheard, on an idle connection it would end the process.
    socket.on("error", () => {});
    // Heard at all times, because to listen anew in each pause costs 6 µs per request.
    socket.on("data", () => this.#onData());
  }

  /** Is the request that has it through with it? Node then calls that destroyed. */
  get isGivenBack(): boolean {
    return this.#borrower?.destroyed === true;
  }

  /** It is nobody's from now on. False when it cannot be used again. */
  release(): boolean {
    this.#borrower = null;
    this.#answer = null;
    // As Node's agent does: the socket would keep its last request, and all that hangs on it, for as long as it is idle.
    Reflect.set(this.socket, "_httpMessage", null);
    this.#wallMs = this.#clock.now();
    this.#tickMs = this.#clock.monotonic();
    return this.isUsable();
  }

  /** An idle one: is it whole, and was it idle no longer than the upstream will bear? */
  isUsable(): boolean {
    const { readyState } = this.socket;
    if (readyState !== "open" && readyState !== "opening") return false;
    // By both clocks: that which never jumps stands still while a laptop sleeps, and wall time may be set back.
    const idleMs = Math.max(this.#clock.monotonic() - this.#tickMs, this.#clock.now() - this.#wallMs);
    return idleMs < this.#limitMs;
  }

  /** Lends an idle or a new one; where its handshakes are still under way the request waits for them. */
  assign(request: ClientRequest): void {
    this.#borrower = request;
    request.reusedSocket = this.#isReady;
    request.on("response", this.#onResponse);
    request.onSocket(this.socket);
  }

  readonly #onResponse = (answer: IncomingMessage): void => {
    this.#answer = answer;
    const { rawHeaders } = answer;
    // Not `headers`, which Node makes at the first look: 3 µs.
    const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && headerName(name).lower === "keep-alive");
    this.#limitMs = idleLimitMs(at === -1 ? undefined : rawHeaders[at + 1]);
  };

  /**
   * What comes on an idle connection, or behind a whole answer that is still being delivered, was not asked for: the next
   * client must not get it, nor what may follow, so the connection is given up (facts/threats.md C7). Unheard it would
   * also not be seen to end. The piece that makes an answer whole is heard here before Node has read it.
   */
  #onData(): void {
    if (this.#borrower === null || this.#answer?.complete === true) this.socket.destroy();
  }
}
