import type { Compression } from "../../core/websocket/compression.ts";
import type { CloseCode } from "../../core/websocket/write-frame.ts";
import type { SharedBuffer } from "../exchange/shared-buffer.ts";
import { ClientMessages, type ClientMessage } from "./client-messages.ts";
import type { Judge, Verdict } from "./judge.ts";

/** Messages that may wait for their judgement. The client is not read meanwhile, but what has arrived may hold many. */
const MOST_WAITING = 64;

/** What becomes of what a client sends. */
interface InboxSink {
  /** A message, or the client's Close, has arrived. */
  onArrival(): void;
  /** A message has been judged. What has to be done is done in this turn. */
  onJudged(message: ClientMessage, verdict: Verdict): void;
  /** Bytes that are not judged: a ping or a pong at once, a Close after the messages before it. */
  onPassed(raw: Buffer): void;
  /** There is room for further messages again. */
  onRoom(): void;
  /** The client has sent what cannot be taken. Nothing follows. */
  onFault(code: CloseCode, reason: string): void;
}

/** What a client sends: each message is judged when it is whole, one after the other in their order. Pings do not wait. */
export class Inbox {
  readonly #judge: Pick<Judge, "judge">;
  readonly #sink: InboxSink;
  readonly #messages: ClientMessages;
  /** Messages that wait for their judgement, and the Close behind them. */
  #waiting: (ClientMessage | Buffer)[] = [];
  /** The first of those that wait is being judged. */
  #isJudging = false;
  #isStopped = false;

  /** `compression` is what was agreed on; null for none. */
  constructor(
    judge: Pick<Judge, "judge">,
    buffer: SharedBuffer,
    compression: Compression | null,
    sink: InboxSink,
  ) {
    this.#judge = judge;
    this.#sink = sink;
    this.#messages = new ClientMessages(buffer, compression, {
      onMessage: (message) => this.#enqueue(message),
      onControl: (raw) => sink.onPassed(raw),
      onClose: (raw) => this.#enqueue(raw),
      onTooLong: () => sink.onFault(1009, "a message is longer than tollkeeper takes"),
      onFull: () => sink.onFault(1013, "too much waits in tollkeeper"),
      onUnreadable: () => sink.onFault(1007, "a compressed message cannot be read"),
      onInvalid: (fault) => sink.onFault(1002, fault),
    });
  }

  /** False while as many messages wait as may. */
  get hasRoom(): boolean {
    return this.#waiting.length < MOST_WAITING;
  }

  /** Takes the next bytes of the client. */
  feed(chunk: Buffer): void {
    this.#messages.feed(chunk);
  }

  /** Judges no further message. Pings still pass. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Drops all that waits, and reads nothing more. */
  close(): void {
    this.stop();
    this.#messages.close();
    for (const item of this.#waiting.splice(0)) if (!Buffer.isBuffer(item)) this.#messages.release(item);
  }

  #enqueue(item: ClientMessage | Buffer): void {
    this.#sink.onArrival();
    this.#waiting.push(item);
    this.#pump();
  }

  #pump(): void {
    while (!this.#isJudging && !this.#isStopped) {
      const item = this.#waiting[0];
      if (item === undefined) return;
      if (Buffer.isBuffer(item)) {
        this.#waiting.shift();
        this.#sink.onPassed(item);
      } else this.#judgeFirst(item);
    }
  }

  #judgeFirst(message: ClientMessage): void {
    this.#isJudging = true;
    let isLater = false;
    this.#judge.judge(message, (verdict) => {
      this.#isJudging = false;
      if (this.#isStopped) return;
      this.#waiting.shift();
      this.#messages.release(message);
      this.#sink.onJudged(message, verdict);
      if (!isLater) return;
      this.#pump();
      this.#sink.onRoom();
    });
    isLater = true;
  }
}
