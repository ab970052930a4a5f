import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { CutBy } from "../../core/ledger/record.ts";
import type { Refusal } from "../../core/refusals/refusal.ts";
import { discardBody } from "../refusals/discard-body.ts";
import type { Deadline } from "../upstream/deadline.ts";
import type { UpstreamRequest } from "../upstream/upstream-request.ts";
import type { Exchange } from "./exchange.ts";
import { unreadableModel } from "../../core/refusals/models.ts";
import type { KeptBody } from "./kept-body.ts";
import { tooLarge, tooSlow } from "../../core/refusals/limits.ts";
import type { ModelGuard } from "./model-guard.ts";
import { takeAll } from "./read-body.ts";
import { SendQueue, WRITE_BYTES } from "./send-queue.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/** Up to this size a body is sent as a string, which is joined with the head in one write: 6 µs less than two buffers. */
const ONE_WRITE_BYTES = 64 * 1024;

/** How often to check whether the client is still connected while the upstream is not reading. */
const CLIENT_CHECK_MS = 400;

const NOTHING = Buffer.alloc(0);

/** A request's body, and what to do with it on its way. */
export interface OutgoingBody {
  /** `content-length`; null for a chunked body. */
  announcedBytes: number | null;
  /** By how many bytes the body that is sent is longer than the client's, since it has another model. */
  addedBytes: number;
  /** Reads the body as it passes, where its model has chosen the upstream; else null. */
  guard: ModelGuard | null;
  /** Gets a copy of what is sent, for another attempt, which then sends that; null where there will be none. */
  kept: KeptBody | null;
}

/** What an upload works with. */
interface UploadOptions {
  body: OutgoingBody;
  deadline: Deadline;
  services: {
    buffer: SharedBuffer;
    peers: {
      /**
       * Asks the system whether the client has closed its end. Node cannot tell while the body is not being read, because it sees
       * the end only after the bytes before it.
       */
      hasLeft(socket: Socket): Promise<boolean>;
    };
  };
  /**
   * Called at most once: the body is too large (before any byte beyond the limit is sent), the client stopped sending, or the
   * guard found a fault (before the body was complete).
   */
  onFailed(refusal: Refusal, cutBy: CutBy | null): void;
}

/** Sends the request body to the upstream: byte for byte, with back-pressure, and never more than the limit. */
export class Upload {
  readonly #exchange: Exchange;
  readonly #req: IncomingMessage;
  readonly #sent: UpstreamRequest;
  readonly #body: OutgoingBody;
  readonly #options: UploadOptions;
  /** null for a body that was complete at once. */
  #queue: SendQueue | null = null;
  #isBlocked = false;
  #isStopped = false;
  #isDiverted = false;
  #idleTimer: NodeJS.Timeout | null = null;
  #checkTimer: NodeJS.Timeout | null = null;

  constructor(exchange: Exchange, sent: UpstreamRequest, options: UploadOptions) {
    this.#exchange = exchange;
    this.#req = exchange.received.req;
    this.#sent = sent;
    this.#body = options.body;
    this.#options = options;
    const kept = options.body.kept?.content ?? null;
    if (this.#req.method !== "POST" && options.body.announcedBytes === 0) sent.end();
    else if (kept !== null) sent.end(kept);
    // A body that arrived together with the head is available in the next tick. That is nearly every body, and all of it.
    else process.nextTick(() => this.#start());
  }

  /** True while the upstream keeps the rest from being sent. */
  get isBlocked(): boolean {
    return this.#isBlocked || this.#req.readableEnded || this.#sent.writableEnded;
  }

  /** Sends nothing more, but goes on until the copy of the body is whole. */
  divert(): void {
    this.#isDiverted = true;
    if (this.#queue === null) return;
    this.#queue.close();
    if (this.#isBlocked) this.#unblock(this.#queue);
  }

  /** Sends nothing more. */
  stop(): void {
    this.#isStopped = true;
    if (this.#queue !== null) this.#leaveRest(this.#queue);
    this.#stopIdleTimer();
    this.#stopCheckTimer();
  }

  /** Discards what is left of the body when the complete response came before the complete request. */
  discardRest(): void {
    const [req, sent] = [this.#req, this.#sent];
    if (sent.writableFinished) return;
    sent.destroy();
    if (req.complete) req.resume();
    else discardBody(req, () => void (req.complete || req.socket.destroySoon()));
  }

  /** Lets other code read the rest of the body. */
  #leaveRest(queue: SendQueue): void {
    queue.close();
    this.#req.removeAllListeners("readable");
    if (this.#isBlocked) this.#req.socket.resume();
  }

  #start(): void {
    if (this.#isStopped) return;
    const { readableLength } = this.#req;
    if (readableLength === this.#body.announcedBytes && readableLength <= ONE_WRITE_BYTES) this.#sendWhole();
    else this.#stream();
  }

  /** Sends a body that has arrived completely. Its length has been checked. Without listeners and timers: saves 15 µs. */
  #sendWhole(): void {
    const { guard, kept } = this.#body;
    const body = takeAll(this.#req) ?? NOTHING;
    // Lets Node emit 'end'.
    this.#req.resume();
    this.#exchange.sawRequestBytes(body);
    const passed = guard === null ? body : guard.passWhole(body);
    if (passed === null) return this.#failOfGuard();
    kept?.keep(passed);
    kept?.complete();
    if (!this.#isDiverted) this.#sent.end(passed.toString("latin1"));
    this.#onProgress();
  }

  #stream(): void {
    const req = this.#req;
    const queue = new SendQueue(this.#sent, this.#options.services.buffer, () => this.#onTaken(queue));
    if (this.#isDiverted) queue.close();
    this.#queue = queue;
    // Not the socket's own timeout: that would also fire while the upstream is what blocks the upload.
    this.#idleTimer = setTimeout(() => this.#onIdle(), this.#exchange.limits.bodyIdleMs);
    // Not 'data', for which the body comes in chunks as small as the client's.
    req.on("readable", () => this.#read(queue));
    req.on("end", () => {
      this.#stopIdleTimer();
      if (this.#body.guard !== null && !this.#sendTail(this.#body.guard, queue)) return;
      this.#body.kept?.complete();
      this.#endWhenFlushed(queue);
    });
  }

  /** Sends what the guard has held back. Returns false when it found a fault. */
  #sendTail(guard: ModelGuard, queue: SendQueue): boolean {
    const tail = this.#isStopped ? null : guard.finish();
    if (tail !== null) this.#pass(tail, queue);
    else if (!this.#isStopped) this.#failOfGuard();
    return tail !== null;
  }

  #failOfGuard(): void {
    this.#options.onFailed(unreadableModel(this.#body.guard?.fault ?? ""), null);
  }

  /** Takes everything that has arrived, and stops Node from reading more when the queue is as long as it may be. */
  #read(queue: SendQueue): void {
    while (!this.#isStopped) {
      const isLong = this.#req.readableLength > WRITE_BYTES;
      const chunk = isLong ? (this.#req.read(WRITE_BYTES) as Buffer | null) : takeAll(this.#req);
      if (chunk === null) break;
      this.#send(chunk, queue);
    }
    // Node notices by itself when a client that has sent everything disconnects.
    if (!queue.hasRoom && !this.#req.complete && !this.#isStopped) this.#block();
  }

  #send(chunk: Buffer, queue: SendQueue): void {
    const { guard } = this.#body;
    const { bodyBytes } = this.#exchange.limits;
    if (this.#exchange.bytesIn + chunk.length > bodyBytes) {
      this.#options.onFailed(tooLarge(bodyBytes), null);
      return;
    }
    this.#exchange.sawRequestBytes(chunk);
    const passed = guard === null ? chunk : guard.pass(chunk);
    if (passed === null) return this.#failOfGuard();
    if (passed.length > 0) this.#pass(passed, queue);
    this.#onProgress();
  }

  #pass(bytes: Buffer, queue: SendQueue): void {
    this.#body.kept?.keep(bytes);
    queue.write(bytes);
  }

  #onTaken(queue: SendQueue): void {
    this.#onProgress();
    this.#endWhenFlushed(queue);
    if (this.#isBlocked && queue.hasRoom) this.#unblock(queue);
  }

  #block(): void {
    this.#isBlocked = true;
    // It would not hold while Node's own buffer has something: Node then resumes the socket to fill it.
    this.#req.socket.pause();
    this.#checkClientLater();
  }

  #unblock(queue: SendQueue): void {
    this.#isBlocked = false;
    this.#stopCheckTimer();
    this.#req.socket.resume();
    this.#read(queue);
  }

  #endWhenFlushed({ isFlushed }: SendQueue): void {
    // A stopped upload is incomplete: ending it would return a half-used connection to the pool.
    if (this.#req.readableEnded && isFlushed && !this.#isStopped && !this.#isDiverted) this.#sent.end();
  }

  #onProgress(): void {
    this.#options.deadline.restart();
    this.#idleTimer?.refresh();
  }

  #onIdle(): void {
    if (this.#isStopped) return;
    // While blocked, the silence is ours: the upstream is not reading.
    if (this.#isBlocked) this.#idleTimer?.refresh();
    else this.#options.onFailed(tooSlow(this.#exchange.limits.bodyIdleMs), "client");
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
    if (await this.#options.services.peers.hasLeft(this.#req.socket)) this.#req.socket.destroy();
    else if (this.#isBlocked && !this.#isStopped) this.#checkClientLater();
  }

  #stopCheckTimer(): void {
    if (this.#checkTimer !== null) clearTimeout(this.#checkTimer);
    this.#checkTimer = null;
  }
}
