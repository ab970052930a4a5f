import type { ClientRequest, IncomingMessage } from "node:http";
import type { Exchange } from "./exchange.ts";
import { discardBody } from "../refuse.ts";

/** A body up to this size goes out as text, which Node joins with the head: one write, 6 µs less than two buffers. */
const ONE_WRITE_BYTES = 64 * 1024;

/** How long an upload may be held up by the upstream before we ask whether its client is still there, and again. */
const LOOK_AFTER_MS = 400;

const NOTHING = Buffer.alloc(0);

/** What an upload may take, and who is told when it takes more. */
export interface UploadOrder {
  /** `content-length`; null for a chunked body. */
  announcedBytes: number | null;
  limitBytes: number;
  /** Longest silence of the client within the body. */
  idleMs: number;
  /** Called at most once, before the first byte beyond the limit is sent. */
  onTooLarge(): void;
  /** The client has stopped sending. */
  onIdle(): void;
  /** Something was sent, or the upstream has taken what was. */
  onProgress(): void;
  /** Has the client closed its end? Asked while its bytes are not read, and so its leaving cannot be seen. */
  clientHasLeft(): Promise<boolean>;
}

/** The request's body on its way to the upstream: byte for byte, with back-pressure, and never more than the limit. */
export class Upload {
  readonly #req: IncomingMessage;
  readonly #upstream: ClientRequest;
  readonly #exchange: Exchange;
  readonly #order: UploadOrder;
  #isStopped = false;
  #idleTimer: NodeJS.Timeout | null = null;
  #lookTimer: NodeJS.Timeout | null = null;

  constructor(req: IncomingMessage, upstream: ClientRequest, exchange: Exchange, order: UploadOrder) {
    this.#req = req;
    this.#upstream = upstream;
    this.#exchange = exchange;
    this.#order = order;
    if (exchange.route.method === "GET") {
      upstream.end();
      return;
    }
    // What came together with the head is here in the next tick: nearly every body, and all of it.
    process.nextTick(() => this.#begin());
  }

  /** Is it the upstream that keeps the rest from being sent? */
  get isHeldUp(): boolean {
    return this.#upstream.writableEnded || this.#req.isPaused();
  }

  /** Sends nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#stopIdling();
    this.#stopLooking();
  }

  /** The answer is complete, and may have come before the request was: the rest of that is nobody's, and read for a while only. */
  discardRest(): void {
    const [req, upstream] = [this.#req, this.#upstream];
    if (upstream.writableFinished) return;
    upstream.destroy();
    if (req.complete) req.resume();
    else discardBody(req, () => void (req.complete || req.socket.destroySoon()));
  }

  #begin(): void {
    if (this.#isStopped) return;
    if (this.#req.readableLength === this.#order.announcedBytes) this.#sendWhole();
    else this.#follow();
  }

  /** Its length was judged when it was announced. Without a listener, a timer or a pause: 15 µs less than piece by piece. */
  #sendWhole(): void {
    const body = (this.#req.read() as Buffer | null) ?? NOTHING;
    // Node has not told itself yet that this was all.
    this.#req.resume();
    if (body.length <= ONE_WRITE_BYTES) this.#upstream.end(body.toString("latin1"), "latin1");
    else this.#upstream.end(body);
    this.#exchange.sawRequestBytes(body);
    this.#progress();
  }

  #follow(): void {
    const [req, upstream] = [this.#req, this.#upstream];
    // Not the connection's own timer: that would close it, also while the upstream is what holds us up.
    this.#idleTimer = setTimeout(() => this.#onSilence(), this.#order.idleMs);
    req.on("data", (chunk: Buffer) => this.#send(chunk));
    upstream.on("drain", () => this.#goOn());
    req.on("end", () => {
      // Stopped, the upload was cut short: ending it would put a half-used connection back into the pool.
      if (this.#isStopped) return;
      this.#stopIdling();
      upstream.end();
    });
  }

  #send(chunk: Buffer): void {
    if (this.#isStopped) return;
    if (this.#exchange.bytesIn + chunk.length > this.#order.limitBytes) {
      this.#order.onTooLarge();
      return;
    }
    const goOn = this.#upstream.write(chunk);
    this.#exchange.sawRequestBytes(chunk);
    this.#progress();
    if (goOn) return;
    this.#req.pause();
    this.#lookSoon();
  }

  #goOn(): void {
    this.#stopLooking();
    this.#progress();
    this.#req.resume();
  }

  #progress(): void {
    this.#order.onProgress();
    this.#idleTimer?.refresh();
  }

  #onSilence(): void {
    if (this.#isStopped) return;
    // Silence that we made ourselves, because the upstream does not read, is not the client's.
    if (this.#req.isPaused()) this.#idleTimer?.refresh();
    else this.#order.onIdle();
  }

  #stopIdling(): void {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
  }

  /** Node sees that a client has left only by reading to the end of what it sent, which we do not while we are held up. */
  #lookSoon(): void {
    this.#stopLooking();
    this.#lookTimer = setTimeout(() => {
      void this.#order.clientHasLeft().then((hasLeft) => {
        if (hasLeft) this.#req.socket.destroy();
        else if (this.#req.isPaused() && !this.#isStopped) this.#lookSoon();
      });
    }, LOOK_AFTER_MS);
  }

  #stopLooking(): void {
    if (this.#lookTimer !== null) clearTimeout(this.#lookTimer);
    this.#lookTimer = null;
  }
}
