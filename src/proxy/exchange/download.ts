import type { ServerResponse } from "node:http";
import { leadsOn } from "../../core/http/gemini/own-links.ts";
import type { HeaderIndex } from "../../core/http/header-index.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { MeterReading } from "../../core/usage/reading.ts";
import { redactReading } from "../../core/usage/redact-reading.ts";
import type { Deadline } from "../upstream/deadline.ts";
import type { IncomingResponse } from "../upstream/incoming-response.ts";
import type { Exchange, ReadResponse } from "./exchange.ts";
import { createResponseMeter, type ResponseMeter } from "./response-meter.ts";
import type { Head, ResponseWriter } from "./response-writer.ts";
import { SendQueue } from "./send-queue.ts";
import { READ_BYTES, type SharedBuffer } from "./shared-buffer.ts";
import { StreamingWriter } from "./streaming-writer.ts";
import { CompressedError } from "./compressed-error.ts";
import { readBedrockHeaders } from "../../core/usage/bedrock/headers.ts";
import { createStreamRedactor } from "../../core/secrets/stream-redactor.ts";
import { isFramed, isSilentlyTruncated, showsItsEnd } from "./unframed-response.ts";

/** From this status on the body is not what was asked for, and it is searched for our key. */
const FIRST_SEARCHED_STATUS = 300;

/** The headers with a service's id of the request (docs/wire.md section 10). The first that is there counts. */
const REQUEST_ID_HEADERS = [
  "request-id",
  "x-request-id",
  "apim-request-id",
  "x-amzn-requestid",
  "x-generation-id",
  "mistral-correlation-id",
  "x-ds-trace-id",
  "inference-id",
];

/** What the handling of a response works with. */
interface DownloadOptions {
  exchange: Exchange;
  secret: Secret;
  deadline: Deadline;
  buffer: SharedBuffer;
  /** The client's response; null when the client has disconnected. */
  res: ServerResponse | null;
  /** See {@link Head.attempts}. */
  attempts: string | null;
  /** Called when the body has ended. The first call counts. */
  onEnd(): void;
}

/** How a response ended. */
export interface EndedResponse extends ReadResponse {
  /** True when the client gets all of it. */
  isWhole: boolean;
}

/** An upstream's response with a valid head: read, written to the client, and metered from a copy. */
export class Download {
  readonly #incoming: IncomingResponse;
  readonly #headers: HeaderIndex;
  readonly #options: DownloadOptions;
  readonly #meter: ResponseMeter;
  /** Both null once the client has disconnected: the rest of the body only goes to the meter. */
  #writer: ResponseWriter | null = null;
  #queue: SendQueue | null = null;
  /** Body bytes that were written before the client disconnected. */
  #bytesWritten = 0;
  #isBlocked = false;
  /** Of the shared buffer, besides the queue. */
  #aheadBytes = 0;
  #isEmpty = true;
  #isSettled = false;

  constructor(incoming: IncomingResponse, options: DownloadOptions) {
    const { exchange, res, secret, buffer, attempts } = options;
    const { status, reason, headers } = incoming.head;
    this.#incoming = incoming;
    this.#headers = headers;
    this.#options = options;
    this.#meter = this.#createMeter(status);
    exchange.tap?.sawResponse(headers.lines.flatMap(({ rawName, value }) => [rawName, value]));
    if (res !== null) {
      this.#queue = new SendQueue(res, buffer, () => this.#onProgress());
      const { budgetPercent } = exchange;
      const endsWithConnection =
        !isFramed(incoming.head) && !showsItsEnd(incoming.head, exchange.choice.route);
      const own = leadsOn(exchange.choice.route) ? exchange.ownAddress : null;
      const head = { status, reason, headers, attempts, budgetPercent, own, endsWithConnection };
      this.#writer = createWriter(res, this.#queue, head, secret);
    }
    this.#listen();
  }

  /** True while the client does not keep up: nothing is read until it has taken what was written. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Body bytes that were handed to the client. */
  get #bytes(): number {
    return this.#writer?.bytes ?? this.#bytesWritten;
  }

  /** The client has disconnected: the rest only goes to the meter. */
  onClientGone(): void {
    this.#bytesWritten = this.#bytes;
    this.#writer = null;
    this.#queue = null;
    this.#readIfRoom();
  }

  /** Takes what has arrived since the last call. */
  read(): void {
    if (this.#isSettled) return;
    const bytes = this.#incoming.read();
    if (bytes !== null) this.#take(bytes);
    if (this.#incoming.isComplete && this.#incoming.unreadBytes === 0) this.#options.onEnd();
  }

  /** What was learned so far, as if the response ended now. */
  readSoFar(): ReadResponse {
    return this.#toRecord(this.#meter.readSoFar());
  }

  /**
   * Reads no more, and returns how the response ended: at once, unless a decoder has to finish. `isWhole`: the body ended and was not
   * truncated. `hasClientLeft`: the client disconnected before that. Call it once.
   */
  finish(isWhole: boolean, hasClientLeft: boolean): EndedResponse | Promise<EndedResponse> {
    this.#isSettled = true;
    this.#countAhead(0);
    if (isWhole) this.#writer?.complete();
    const reading = this.#meter.finish(isWhole, hasClientLeft, isFramed(this.#incoming.head));
    return reading instanceof Promise
      ? reading.then((read) => this.#conclude(read, isWhole))
      : this.#conclude(reading, isWhole);
  }

  #conclude(reading: MeterReading, hasEnded: boolean): EndedResponse {
    const isWhole = hasEnded && !this.#isSilentlyTruncated(reading);
    // An error stays an error, whole or not. A response whose usage is final is complete, whatever the client got of it.
    const isCut = hasEnded && !isWhole && reading.outcome === "completed" && reading.usage !== "final";
    const read = this.#toRecord(isCut ? { ...reading, outcome: "cut" } : reading);
    return { reading: read.reading, bytesOut: read.bytesOut, isWhole };
  }

  /** The ledger must not get a key that an upstream echoes, for instance in a model's name. */
  #toRecord(reading: MeterReading): ReadResponse {
    return { reading: redactReading(reading, this.#options.secret), bytesOut: this.#bytes };
  }

  #isSilentlyTruncated(reading: MeterReading): boolean {
    const { head } = this.#incoming;
    if (isFramed(head)) return false;
    return isSilentlyTruncated({ head, isEmpty: this.#isEmpty, reading, isFinished: this.#meter.isFinished });
  }

  /** Ends the client's response. */
  end(): void {
    this.#writer?.end();
  }

  #createMeter(status: number): ResponseMeter {
    const { exchange, secret } = this.#options;
    const contentType = this.#headers.get("content-type") ?? null;
    const streamed = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)/i.test(contentType ?? "");
    exchange.sawResponse(status, streamed, readRequestId(this.#headers, secret));
    const { route, upstream } = exchange.choice;
    const { dialect, spend } = route;
    const said = dialect === "bedrock" ? readBedrockHeaders(this.#headers, exchange.modelAsked) : null;
    return createResponseMeter(
      { dialect, spend, status, contentType, inputIncludesCache: upstream.inputIncludesCache, said },
      this.#headers.all("content-encoding") ?? null,
    );
  }

  #listen(): void {
    const incoming = this.#incoming;
    // Everything that came in one read of the socket is one piece, however many HTTP chunks it was sent in.
    incoming.onReadable = () => this.#readIfRoom();
    if (this.#headers.has("content-length")) return;
    // The head of a stream waits for the first piece only if that came together with it, which the next tick shows. A
    // response without a body (204, 304) is settled by then, and its head waits for the record.
    process.nextTick(() => {
      if (incoming.unreadBytes === 0 && !this.#isSettled) this.#writer?.flush();
    });
  }

  #onProgress(): void {
    if (this.#isBlocked) this.#readIfRoom();
  }

  /**
   * Reads, unless the client has too much to take already. Then what the upstream sends next is still read, up to a limit: if that is the end, a
   * reset that follows takes nothing away. Where little memory is left, nothing more is read.
   */
  #readIfRoom(): void {
    if (this.#hasRoom) this.read();
    if (this.#isSettled) return;
    this.#isBlocked = !this.#hasRoom;
    if (this.#isBlocked && this.#options.buffer.isScarce) this.#incoming.pause();
    // Once paused, Node still takes what one read of the socket brings.
    this.#countAhead(this.#isBlocked ? this.#incoming.unreadBytes + READ_BYTES : 0);
  }

  get #hasRoom(): boolean {
    return this.#queue?.hasRoom !== false;
  }

  /** Counts what is read, or may be, while the client does not keep up. */
  #countAhead(bytes: number): void {
    if (bytes === this.#aheadBytes) return;
    this.#options.buffer.resize(this.#aheadBytes, bytes);
    this.#aheadBytes = bytes;
  }

  #take(bytes: Buffer): void {
    const { exchange, deadline } = this.#options;
    deadline.restart();
    this.#isEmpty = false;
    this.#writer?.write(bytes);
    // After the write, so that the client does not wait for the meter.
    this.#meter.feed(bytes);
    exchange.tap?.sawResponseBytes(bytes);
    if (exchange.hasFirstContent) return;
    if (!exchange.isStream || this.#meter.hasContent) exchange.sawFirstContent();
  }
}

/** Returns a service's id of the request, with the secret redacted; null without one. The ledger limits its length. */
export function readRequestId(headers: HeaderIndex, secret: Secret): string | null {
  const name = REQUEST_ID_HEADERS.find((known) => headers.has(known));
  const id = name === undefined ? undefined : headers.get(name);
  return id === undefined ? null : secret.redactText(id);
}

function createWriter(res: ServerResponse, queue: SendQueue, head: Head, secret: Secret): ResponseWriter {
  res.sendDate = false;
  if (head.status < FIRST_SEARCHED_STATUS) return new StreamingWriter(res, queue, head, secret, null);
  const encoding = head.headers.all("content-encoding")?.toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "")
    return new CompressedError(res, queue, head, encoding, secret);
  return new StreamingWriter(res, queue, head, secret, createStreamRedactor(secret));
}
