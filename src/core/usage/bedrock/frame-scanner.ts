import { copyBytes } from "../bytes.ts";
import { JsonScanner, TEXT } from "../json/json-scanner.ts";
import { StreamedText } from "../streamed-text.ts";
import type { UsageCollector, UsageFormat } from "../usage-format.ts";
import { Base64Reader } from "./base64-reader.ts";
import { addCrc32 } from "./crc32.ts";
import { readFrameHeaders } from "./frame-headers.ts";

/** A frame's length, the length of its headers, and the checksum of these eight bytes. */
const PRELUDE_BYTES = 12;
const LENGTHS_BYTES = 8;
const CRC_BYTES = 4;
/** Bedrock's have about 90 bytes. Of longer ones nothing is read. */
const MAX_HEADERS_BYTES = 8 * 1024;
/** AWS's own limit for a frame's payload, and more than enough for its headers (smithy.io, "Event streams: Amazon event stream"). */
const MAX_FRAME_BYTES = 24 * 1024 * 1024 + 256 * 1024;

/** The event of `invoke-with-response-stream`. Its payload holds the model's own event as base64. */
const CHUNK = "chunk";

/** What of a frame comes next. */
type Part = "prelude" | "headers" | "payload" | "checksum";

/** The type under which a collector receives an exception: what it is called is its `type`. */
export const EXCEPTION = "exception";

/**
 * Reads a stream of AWS's frames, `application/vnd.amazon.eventstream`, in any chunking, and passes what its format selects of their events
 * to a collector (docs/wire.md section 14). Each frame is: prelude, headers, payload, checksum of all that. What comes after a frame
 * that is not as it says of itself cannot be read. Holds at most the headers of a frame.
 */
export class FrameScanner {
  readonly isOpen = false;
  readonly #collector: UsageCollector;
  readonly #text = new StreamedText();
  /** The payload of an event, or what a chunk holds. */
  readonly #json: JsonScanner;
  readonly #base64: Base64Reader;
  readonly #chunk: JsonScanner;

  readonly #head = Buffer.alloc(MAX_HEADERS_BYTES);
  #headLength = 0;
  #part: Part = "prelude";
  /** Bytes of the part that are still to come. */
  #missing = PRELUDE_BYTES;
  #payloadBytes = 0;
  #crc = 0;
  #headers: ReadonlyMap<string, string> = new Map();
  #isBroken = false;
  #isReadable = true;

  constructor(format: UsageFormat, collector: UsageCollector) {
    this.#collector = collector;
    this.#json = new JsonScanner(format.event, this.#text);
    this.#base64 = new Base64Reader((bytes) => this.#json.feed(bytes));
    this.#chunk = new JsonScanner({ bytes: TEXT }, this.#base64);
  }

  get hasContent(): boolean {
    return this.#collector.hasContent;
  }

  get streamedTokens(): number {
    return this.#text.tokens;
  }

  feed(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#isBroken) at = this.#step(bytes, at);
  }

  /** Ends the stream. Returns false when a frame could not be read, or was interrupted. */
  finish(): boolean {
    const isBetween = this.#part === "prelude" && this.#headLength === 0;
    return this.#isReadable && isBetween && !this.#isBroken;
  }

  /** Reads as much of the current part as there is. Returns the offset after it. */
  #step(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#missing);
    this.#missing -= end - at;
    if (this.#part !== "checksum") this.#crc = addCrc32(this.#crc, bytes, at, end);
    if (this.#part === "payload") this.#feedPayload(bytes.subarray(at, end));
    else this.#headLength += copyBytes(bytes, at, end, this.#head, this.#headLength);
    while (this.#missing === 0 && !this.#isBroken) this.#endPart();
    return end;
  }

  #endPart(): void {
    switch (this.#part) {
      case "prelude":
        return this.#endPrelude();
      case "headers":
        return this.#endHeaders();
      case "payload":
        return this.#begin("checksum", CRC_BYTES);
      case "checksum":
        return this.#endFrame();
    }
  }

  #endPrelude(): void {
    const frameBytes = this.#head.readUInt32BE(0);
    const headersBytes = this.#head.readUInt32BE(4);
    this.#payloadBytes = frameBytes - headersBytes - PRELUDE_BYTES - CRC_BYTES;
    this.#isBroken =
      addCrc32(0, this.#head, 0, LENGTHS_BYTES) !== this.#head.readUInt32BE(LENGTHS_BYTES) ||
      headersBytes > MAX_HEADERS_BYTES ||
      frameBytes > MAX_FRAME_BYTES ||
      this.#payloadBytes < 0;
    this.#begin("headers", headersBytes);
  }

  #endHeaders(): void {
    const headers = readFrameHeaders(this.#head.subarray(0, this.#headLength));
    this.#isReadable &&= headers !== null;
    this.#headers = headers ?? new Map();
    this.#begin("payload", this.#payloadBytes);
  }

  #begin(part: Part, bytes: number): void {
    this.#part = part;
    this.#missing = bytes;
    this.#headLength = 0;
  }

  #feedPayload(bytes: Buffer): void {
    if (this.#headers.get(":event-type") === CHUNK) this.#chunk.feed(bytes);
    else this.#json.feed(bytes);
  }

  #endFrame(): void {
    // What the frame says was changed on its way. So may be the lengths of those that follow.
    this.#isBroken = this.#head.readUInt32BE(0) !== this.#crc;
    if (!this.#isBroken) this.#addEvent();
    this.#json.reset();
    this.#chunk.reset();
    this.#base64.reset();
    this.#crc = 0;
    this.#begin("prelude", PRELUDE_BYTES);
  }

  #addEvent(): void {
    const message = this.#headers.get(":message-type");
    if (message === EXCEPTION || message === "error") {
      const type = this.#headers.get(":exception-type") ?? this.#headers.get(":error-code") ?? null;
      return this.#collector.addEvent(EXCEPTION, { type });
    }
    const type = this.#headers.get(":event-type");
    if (message !== "event" || type === undefined || this.#payloadBytes === 0) return;
    const isWhole = type !== CHUNK || (this.#chunk.isComplete && this.#base64.isReadable);
    if (this.#json.isComplete && isWhole) this.#collector.addEvent(type, this.#json.fields);
    else this.#isReadable = false;
  }
}
