import { ChunkedBody } from "./chunked-body.ts";
import { hasStrayLineEnd } from "./header-lines.ts";
import { InvalidResponse } from "./invalid-response.ts";
import { parseResponseHead, type ResponseHead } from "./response-head.ts";

/** As Node's own limit. */
const MOST_HEAD_BYTES = 16 * 1024;

const HEAD_END = Buffer.from("\r\n\r\n");
const HEAD_START = "HTTP/1.";

/** What a parser finds, in order: one head, and then the pieces of the body. */
export interface ResponseSink {
  onHead(head: ResponseHead): void;
  /** `bytes` is never empty, and may be kept. */
  onBody(bytes: Buffer): void;
}

/**
 * Parses one HTTP/1.1 response as it arrives, in whatever pieces. Interim responses are dropped. In place of Node's parser: that and the
 * objects of its client cost two fifths of a small request (docs/performance.md section 3).
 */
export class ResponseParser {
  /** True when the response has arrived to its last byte. */
  isComplete = false;
  /** True when more bytes followed the response in the same piece as its end. */
  hasSurplus = false;
  readonly #sink: ResponseSink;
  /** The beginning of a head whose end has not arrived yet. */
  #head = "";
  /** null before the head. */
  #chunks: ChunkedBody | null = null;
  /** For a body without chunks: bytes still to come; Infinity if it ends with the connection. -1 before the head. */
  #left = -1;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /**
   * Parses what has arrived; bytes may be moved within it. Must not be called once the response is complete.
   * @throws InvalidResponse
   */
  feed(bytes: Buffer): void {
    let at = 0;
    while (this.#left === -1 && this.#chunks === null) {
      const next = this.#readHead(bytes, at);
      if (next === -1) return;
      at = next;
    }
    if (this.#chunks !== null) this.#readChunks(this.#chunks, bytes, at);
    else this.#readPlain(bytes, at);
  }

  /** The connection has ended. Returns whether that completes the response. */
  end(): boolean {
    if (this.#left === Infinity) this.isComplete = true;
    return this.isComplete;
  }

  /** Reads to the end of a head; returns the position after it, or -1 when it has not arrived. */
  #readHead(bytes: Buffer, start: number): number {
    const before = this.#head.length;
    const whole = before === 0 ? bytes.indexOf(HEAD_END, start) : -1;
    const stop = whole === -1 ? Math.min(bytes.length, start + MOST_HEAD_BYTES + 1) : whole;
    const text = this.#head + bytes.toString("latin1", start, stop);
    const end = whole === -1 ? text.indexOf("\r\n\r\n", Math.max(0, before - 3)) : whole - start;
    if (end > MOST_HEAD_BYTES || (end === -1 && text.length > MOST_HEAD_BYTES))
      throw new InvalidResponse(`its head has more than ${MOST_HEAD_BYTES / 1024} KB`);
    if (end === -1) {
      checkBeginning(text);
      this.#head = text;
      return -1;
    }
    this.#head = "";
    this.#onHead(parseResponseHead(end === text.length ? text : text.slice(0, end)));
    return start + end + HEAD_END.length - before;
  }

  #onHead(head: ResponseHead): void {
    const { status, framing } = head;
    if (status === 101) throw new InvalidResponse("the upstream switched protocols without being asked to");
    if (status < 200) return;
    if (framing === "chunked") this.#chunks = new ChunkedBody();
    else this.#left = framing === "until-close" ? Infinity : framing;
    this.#sink.onHead(head);
  }

  #readPlain(bytes: Buffer, start: number): void {
    const length = Math.min(this.#left, bytes.length - start);
    if (length > 0)
      this.#sink.onBody(
        start === 0 && length === bytes.length ? bytes : bytes.subarray(start, start + length),
      );
    this.#left -= length;
    if (this.#left === 0) this.#complete(bytes, start + length);
  }

  #readChunks(chunks: ChunkedBody, bytes: Buffer, start: number): void {
    const content = chunks.decode(bytes, start);
    // What is counted is the content: all of the piece must not stay in memory for little of it.
    if (content.length > 0)
      this.#sink.onBody(content.length * 2 < bytes.length ? Buffer.from(content) : content);
    if (chunks.isBroken) throw new InvalidResponse("a chunk of its body is malformed");
    if (chunks.end !== -1) this.#complete(bytes, chunks.end);
  }

  #complete(bytes: Buffer, end: number): void {
    this.isComplete = true;
    this.hasSurplus = end < bytes.length;
  }
}

/** Refuses what cannot become a head, so that the connection does not wait for the rest. */
function checkBeginning(text: string): void {
  const start = text.slice(0, HEAD_START.length);
  if (!HEAD_START.startsWith(start) || hasStrayLineEnd(text))
    throw new InvalidResponse("it does not begin with a status line of HTTP");
}
