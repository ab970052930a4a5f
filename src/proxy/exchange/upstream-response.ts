import type { IncomingMessage, ServerResponse } from "node:http";
import type { HeaderIndex } from "../../core/http/header-index.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { Reading } from "../../core/usage/reading.ts";
import { createResponseWriter, type ResponseWriter } from "./response-writer.ts";
import type { Exchange } from "./exchange.ts";
import { createResponseMeter, type ResponseMeter } from "./response-meter.ts";
import { isSilentlyTruncated } from "./unframed-response.ts";

/** What an answer needs to know, and whom it tells. */
export interface AnswerFlowOrder {
  exchange: Exchange;
  secret: Secret;
  inputIncludesCache: boolean;
  /** Who gets it; null when the client has left. */
  res: ServerResponse | null;
  /** Some of it came. */
  onProgress(): void;
  /** All of it came. */
  onWhole(): void;
  /** No more will come. */
  onBroken(): void;
}

/** An upstream's answer whose head is good, on its way to the client: read, delivered, and metered from a copy. */
export class UpstreamResponse {
  readonly #incoming: IncomingMessage;
  readonly #headers: HeaderIndex;
  readonly #order: AnswerFlowOrder;
  readonly #meter: ResponseMeter;
  /** null: nobody gets it, the rest goes to the meter alone. */
  #delivery: ResponseWriter | null;
  /** Delivered before the client left. */
  #delivered = 0;
  #isHeldUp = false;
  #isSettled = false;

  constructor(incoming: IncomingMessage, headers: HeaderIndex, order: AnswerFlowOrder) {
    const { exchange, res, secret } = order;
    const { statusCode: status = 0, statusMessage: reason = "" } = incoming;
    this.#incoming = incoming;
    this.#headers = headers;
    this.#order = order;
    exchange.status = status;
    this.#meter = this.#startMeter(status);
    this.#delivery = res === null ? null : createResponseWriter(res, { status, reason, headers }, secret);
    this.#watch();
  }

  /** Did all of it come, to the last byte? */
  get isComplete(): boolean {
    return this.#incoming.complete;
  }

  /** Does the client not keep up? What comes waits until it has read what it has. */
  get isHeldUp(): boolean {
    return this.#isHeldUp;
  }

  /** Body bytes that were handed to the client. */
  get bytes(): number {
    return this.#delivery?.bytes ?? this.#delivered;
  }

  /** The client has read what it had. */
  goOn(): void {
    if (!this.#isHeldUp) return;
    this.#isHeldUp = false;
    this.#order.onProgress();
    this.readOn();
  }

  /** The client has left: what is left goes to the meter alone. */
  loseClient(): void {
    this.#delivered = this.bytes;
    this.#delivery = null;
    this.goOn();
  }

  /** Takes what has come since the last time. */
  readOn(): void {
    if (this.#isHeldUp || this.#isSettled) return;
    const bytes = this.#incoming.read() as Buffer | null;
    if (bytes !== null) this.#take(bytes);
    if (this.#incoming.complete && this.#incoming.readableLength === 0) this.#order.onWhole();
  }

  /**
   * It is over, as a `whole` or not: says what was learned, and whether it was whole indeed. To be called once; calls back
   * at once unless a decoder has to finish.
   */
  settle(whole: boolean, done: (reading: Reading, isWhole: boolean) => void): void {
    this.#isSettled = true;
    if (whole) this.#delivery?.complete();
    this.#meter.finish(whole, (reading) => {
      const isWhole = whole && !isSilentlyTruncated(this.#headers, reading, this.#meter.isOver);
      // An error is one, whole or not; and what the service had its last word on is complete, whatever the client got.
      const isCut = whole && !isWhole && reading.outcome === "completed" && reading.usage !== "final";
      done(isCut ? { ...reading, outcome: "cut" } : reading, isWhole);
    });
  }

  /** Ends it for the client. */
  end(): void {
    this.#delivery?.end();
  }

  #startMeter(status: number): ResponseMeter {
    const { exchange, secret, inputIncludesCache } = this.#order;
    const contentType = this.#headers.get("content-type") ?? null;
    exchange.streamed = contentType?.toLowerCase().startsWith("text/event-stream") ?? false;
    // The service's own name for the request (facts/usage.md section 5); the ledger caps it.
    const requestId = this.#headers.get("request-id") ?? this.#headers.get("x-request-id");
    exchange.upstreamRequestId = requestId === undefined ? null : secret.redactText(requestId);
    const { dialect, spend } = exchange.route;
    return createResponseMeter(
      { dialect, spend, status, contentType, inputIncludesCache },
      this.#headers.all("content-encoding") ?? null,
    );
  }

  /**
   * Read in pauses rather than as it flows: what came in one read of the connection is one piece then, however many
   * chunks it was sent in. Of a fast stream that is 64 KB in place of an event: 1 µs less per event.
   */
  #watch(): void {
    const incoming = this.#incoming;
    incoming.on("readable", () => this.readOn());
    incoming.on("error", () => this.#order.onBroken());
    incoming.on("close", () => this.#order.onBroken());
    if (this.#headers.has("content-length")) return;
    // A head waits for the first of its stream only if that came with it: then it is here in the next tick. One without a
    // body (204, 304) is the whole answer by then, and waits for its record.
    process.nextTick(() => {
      if (incoming.readableLength === 0 && !incoming.complete && !this.#isSettled) this.#delivery?.flush();
    });
  }

  #take(bytes: Buffer): void {
    const { exchange, onProgress } = this.#order;
    onProgress();
    this.#isHeldUp = this.#delivery?.write(bytes) === false;
    // After the write: the client does not wait for our books.
    this.#meter.feed(bytes);
    if (exchange.hasFirstContent) return;
    if (exchange.streamed !== true || this.#meter.sawContent) exchange.sawFirstContent();
  }
}
