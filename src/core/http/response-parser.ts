import { ChunkedBody } from "./chunked-body.ts";
import { InvalidResponse } from "./framing.ts";
import { parseResponseHead, PartialHead, type ResponseHead } from "./response-head.ts";

/** As Node's own limit. */
const MOST_HEAD_BYTES = 16 * 1024;

/**
 * How many interim responses (1xx) may come before the final one, and how long their heads may be in all. A service that sends one each
 * second stays below for a quarter of an hour; what sends them without end has a program parse for as long as it waits.
 */
export const MOST_INTERIM = 1000;
const MOST_INTERIM_BYTES = 256 * 1024;
export const TOO_MANY_INTERIM = "it sent too many interim responses (1xx)";

const HEAD_END = Buffer.from("\r\n\r\n");

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
  /** null between heads, and while nothing of one has arrived. */
  #partial: PartialHead | null = null;
  #interim = 0;
  #interimBytes = 0;
  /** null before the head. */
  #chunks: ChunkedBody | null = null;
  /** For a body without chunks: bytes still to come; Infinity if it ends with the connection. -1 before the head. */
  #left = -1;
  readonly #isUpgrade: boolean;

  /** `isUpgrade`: the request has asked for another protocol. After status 101 that is the body, until the connection ends. */
  constructor(sink: ResponseSink, isUpgrade = false) {
    this.#sink = sink;
    this.#isUpgrade = isUpgrade;
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

  /** True while the body ends with the connection and with nothing else. */
  get endsWithConnection(): boolean {
    return this.#left === Infinity && !this.isComplete;
  }

  /** The connection has ended. Returns whether that completes the response. */
  end(): boolean {
    if (this.endsWithConnection) this.isComplete = true;
    return this.isComplete;
  }

  /** Reads to the end of a head; returns the position after it, or -1 when it has not arrived. */
  #readHead(bytes: Buffer, start: number): number {
    const before = this.#partial?.text ?? "";
    const whole = before === "" ? bytes.indexOf(HEAD_END, start) : -1;
    const stop = whole === -1 ? Math.min(bytes.length, start + MOST_HEAD_BYTES + 1) : whole;
    const text = before + bytes.toString("latin1", start, stop);
    const end = whole === -1 ? text.indexOf("\r\n\r\n", Math.max(0, before.length - 3)) : whole - start;
    if (end > MOST_HEAD_BYTES || (end === -1 && text.length > MOST_HEAD_BYTES))
      throw new InvalidResponse(`its head has more than ${MOST_HEAD_BYTES / 1024} KB`);
    if (end === -1) {
      if (text === "") return -1;
      this.#partial ??= new PartialHead(this.#isUpgrade);
      this.#partial.grow(text);
      return -1;
    }
    this.#partial = null;
    this.#onHead(parseResponseHead(end === text.length ? text : text.slice(0, end), this.#isUpgrade), end);
    return start + end + HEAD_END.length - before.length;
  }

  #onHead(head: ResponseHead, bytes: number): void {
    const { status, framing } = head;
    // With 101 it is not invalid only where it was asked for, and then it is final (RFC 9110 section 15.2.2).
    if (status < 200 && status !== 101) {
      this.#countInterim(bytes);
      return;
    }
    if (framing === "chunked") this.#chunks = new ChunkedBody();
    else this.#left = framing === "until-close" ? Infinity : framing;
    this.#sink.onHead(head);
  }

  #countInterim(bytes: number): void {
    this.#interim += 1;
    this.#interimBytes += bytes;
    if (this.#interim > MOST_INTERIM || this.#interimBytes > MOST_INTERIM_BYTES)
      throw new InvalidResponse(TOO_MANY_INTERIM);
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
