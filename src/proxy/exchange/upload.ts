import type { ClientRequest, IncomingMessage } from "node:http";
import type { CutBy } from "../../core/ledger/record.ts";
import type { Refusal } from "../../core/http/refusal.ts";
import { discardBody } from "../send-refusal.ts";
import type { Deadline } from "../upstream/deadline.ts";
import type { ExchangeRecorder } from "./exchange-recorder.ts";
import { tooLarge, tooSlow } from "./limit-refusals.ts";
import type { RoundTripLimits } from "./limits.ts";

/** Up to this size a body is sent as a string, which Node joins with the head in one write: 6 µs less than two buffers. */
const ONE_WRITE_BYTES = 64 * 1024;

/** How often to check whether the client is still connected while the upstream is not reading. */
const CLIENT_CHECK_MS = 400;

const NOTHING = Buffer.alloc(0);

/** What an upload works with. */
interface UploadOptions {
  exchange: ExchangeRecorder;
  /** `content-length`; null for a chunked body. */
  announcedBytes: number | null;
  limits: RoundTripLimits;
  deadline: Deadline;
  /**
   * Asks the system whether the client has closed its end. Node cannot tell while the body is not being read, because it sees
   * the end only after the bytes before it.
   */
  hasClientLeft(): Promise<boolean>;
  /** Called at most once: the body is too large (before any byte beyond the limit is sent), or the client stopped sending. */
  onFailed(refusal: Refusal, cutBy: CutBy | null): void;
}

/** Sends the request body to the upstream: byte for byte, with back-pressure, and never more than the limit. */
export class Upload {
  readonly #req: IncomingMessage;
  readonly #upstream: ClientRequest;
  readonly #options: UploadOptions;
  #isStopped = false;
  #idleTimer: NodeJS.Timeout | null = null;
  #checkTimer: NodeJS.Timeout | null = null;

  constructor(req: IncomingMessage, upstream: ClientRequest, options: UploadOptions) {
    this.#req = req;
    this.#upstream = upstream;
    this.#options = options;
    if (req.method === "GET") upstream.end();
    // A body that arrived together with the head is available in the next tick. That is nearly every body, and all of it.
    else process.nextTick(() => this.#start());
  }

  /** True while the upstream is what keeps the rest from being sent. */
  get isBlocked(): boolean {
    return this.#upstream.writableEnded || this.#req.isPaused();
  }

  /** Sends nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#stopIdleTimer();
    this.#stopCheckTimer();
  }

  /** Discards what is left of the body when the complete response came before the complete request. */
  discardRest(): void {
    const [req, upstream] = [this.#req, this.#upstream];
    if (upstream.writableFinished) return;
    upstream.destroy();
    if (req.complete) req.resume();
    else discardBody(req, () => void (req.complete || req.socket.destroySoon()));
  }

  #start(): void {
    if (this.#isStopped) return;
    if (this.#req.readableLength === this.#options.announcedBytes) this.#sendWhole();
    else this.#stream();
  }

  /** Sends a body that is completely here. Its length has been checked. Without listeners and timers: saves 15 µs. */
  #sendWhole(): void {
    const body = (this.#req.read() as Buffer | null) ?? NOTHING;
    // Lets Node emit 'end'.
    this.#req.resume();
    if (body.length <= ONE_WRITE_BYTES) this.#upstream.end(body.toString("latin1"), "latin1");
    else this.#upstream.end(body);
    this.#options.exchange.sawRequestBytes(body);
    this.#onProgress();
  }

  #stream(): void {
    const [req, upstream] = [this.#req, this.#upstream];
    // Not the socket's own timeout: that would also fire while the upstream is what blocks the upload.
    this.#idleTimer = setTimeout(() => this.#onIdle(), this.#options.limits.bodyIdleMs);
    req.on("data", (chunk: Buffer) => this.#send(chunk));
    upstream.on("drain", () => this.#onDrain());
    req.on("end", () => {
      // A stopped upload is incomplete: ending it would return a half-used connection to the pool.
      if (this.#isStopped) return;
      this.#stopIdleTimer();
      upstream.end();
    });
  }

  #send(chunk: Buffer): void {
    if (this.#isStopped) return;
    const { exchange, limits, onFailed } = this.#options;
    if (exchange.bytesIn + chunk.length > limits.bodyBytes) {
      onFailed(tooLarge(limits.bodyBytes), null);
      return;
    }
    const hasRoom = this.#upstream.write(chunk);
    exchange.sawRequestBytes(chunk);
    this.#onProgress();
    if (hasRoom) return;
    this.#req.pause();
    this.#checkClientLater();
  }

  #onDrain(): void {
    this.#stopCheckTimer();
    this.#onProgress();
    this.#req.resume();
  }

  #onProgress(): void {
    this.#options.deadline.restart();
    this.#idleTimer?.refresh();
  }

  #onIdle(): void {
    if (this.#isStopped) return;
    const { limits, onFailed } = this.#options;
    // While paused, the silence is ours: the upstream is not reading.
    if (this.#req.isPaused()) this.#idleTimer?.refresh();
    else onFailed(tooSlow(limits.bodyIdleMs), "client");
  }

  #stopIdleTimer(): void {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
  }

  #checkClientLater(): void {
    this.#stopCheckTimer();
    this.#checkTimer = setTimeout(() => void this.#checkClient(), CLIENT_CHECK_MS);
  }

  async #checkClient(): Promise<void> {
    if (await this.#options.hasClientLeft()) this.#req.socket.destroy();
    else if (this.#req.isPaused() && !this.#isStopped) this.#checkClientLater();
  }

  #stopCheckTimer(): void {
    if (this.#checkTimer !== null) clearTimeout(this.#checkTimer);
    this.#checkTimer = null;
  }
}
