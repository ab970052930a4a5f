import * as zlib from "node:zlib";
import type { Transform } from "node:stream";
import { createMeter, type Meter, type MeterSetup } from "../../core/usage/meter.ts";
import type { Reading } from "../../core/usage/reading.ts";

/**
 * What a compressed answer may unfold to before the meter gives up on it (facts/threats.md D6: gzip bomb). Only the
 * meter's copy is decoded, chunk by chunk, so this bounds work, not memory.
 */
const DECODED_LIMIT_BYTES = 256 * 1024 * 1024;
/** Compressed bytes that may wait for a decoder which is slower than the answer. */
const WAITING_LIMIT_BYTES = 4 * 1024 * 1024;

/** Watches a copy of one answer's chunks. Nothing that happens in here reaches the exchange. */
export interface ResponseMeter {
  /** The body's bytes as they are on the wire. */
  feed(chunk: Buffer): void;
  /** Was the first content of a stream seen? */
  readonly sawContent: boolean;
  /** As in `Meter`. */
  readonly isOver: boolean;
  /** What was learned, once the body has ended (`whole`) or broken off. Calls back at once unless a decoder has to finish. */
  finish(whole: boolean, done: (reading: Reading) => void): void;
}

/** Makes the meter for an answer with the given `content-encoding` (null or `identity`: none). */
export function createResponseMeter(setup: MeterSetup, contentEncoding: string | null): ResponseMeter {
  const meter = createMeter(setup);
  const encoding = contentEncoding?.toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return new DirectMeter(meter);
  return new DecodingMeter(meter, createDecoder(encoding));
}

/**
 * The bytes are as the meter wants them. A class, because V8 makes a new shape for each object literal with accessors: that
 * takes 0.8 µs, and holds the request until the next full collection.
 */
class DirectMeter implements ResponseMeter {
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  get sawContent(): boolean {
    return this.#meter.sawContent;
  }

  get isOver(): boolean {
    return this.#meter.isOver;
  }

  feed(chunk: Buffer): void {
    this.#meter.feed(chunk);
  }

  finish(whole: boolean, done: (reading: Reading) => void): void {
    done(this.#meter.finish(whole));
  }
}

/** An upstream that ignores `accept-encoding: identity`: the client gets the bytes as they are, we decode our copy. */
class DecodingMeter implements ResponseMeter {
  readonly #meter: Meter;
  #decoder: Transform | null;
  #decodedBytes = 0;
  #failed: boolean;
  #done: (() => void) | null = null;

  constructor(meter: Meter, decoder: Transform | null) {
    this.#meter = meter;
    this.#decoder = decoder;
    this.#failed = decoder === null;
    decoder?.on("data", (chunk: Buffer) => this.#onDecoded(chunk));
    decoder?.on("end", () => this.#settle());
    decoder?.on("close", () => this.#settle());
    decoder?.on("error", () => this.#giveUp());
  }

  get sawContent(): boolean {
    return this.#meter.sawContent;
  }

  get isOver(): boolean {
    return this.#meter.isOver;
  }

  feed(chunk: Buffer): void {
    if (this.#decoder === null) return;
    this.#decoder.write(chunk);
    if (this.#decoder.writableLength > WAITING_LIMIT_BYTES) this.#giveUp();
  }

  finish(whole: boolean, done: (reading: Reading) => void): void {
    this.#done = () => {
      const reading = this.#meter.finish(whole && !this.#failed);
      done(this.#failed ? withoutUsage(reading, whole) : reading);
    };
    const decoder = this.#decoder;
    // Bytes behind the end of what was compressed: a decoder ends before its input does, and never again.
    if (decoder === null || decoder.readableEnded || decoder.destroyed) this.#settle();
    else decoder.end();
  }

  #onDecoded(chunk: Buffer): void {
    this.#decodedBytes += chunk.length;
    if (this.#decodedBytes > DECODED_LIMIT_BYTES) this.#giveUp();
    else this.#meter.feed(chunk);
  }

  #giveUp(): void {
    this.#failed = true;
    const decoder = this.#decoder;
    this.#decoder = null;
    decoder?.destroy();
    this.#settle();
  }

  #settle(): void {
    const done = this.#done;
    this.#done = null;
    done?.();
  }
}

/** `finishFlush` lets a body that was cut off give up what it holds, instead of an error. null: cannot be decoded here. */
function createDecoder(encoding: string): Transform | null {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
    case "deflate":
      return zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
    case "br":
      return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
    case "zstd":
      return createZstd();
    default:
      return null;
  }
}

/** Node has zstd since 22.15 (facts/usage.md section 2). */
function createZstd(): Transform | null {
  const create: unknown = Reflect.get(zlib, "createZstdDecompress");
  return typeof create === "function" ? (create() as Transform) : null;
}

/** A decode fault makes the usage absent, nothing else: the exchange itself ended as it did. */
function withoutUsage(reading: Reading, whole: boolean): Reading {
  const ended = whole && reading.outcome === "cut" ? "completed" : reading.outcome;
  if (reading.usage === "none") return { ...reading, outcome: ended };
  return {
    ...reading,
    outcome: ended,
    usage: "absent",
    spend: "never",
    tokens: null,
    extra: [],
    raw_usage: null,
    flags: [...reading.flags, "decode_failed"],
  };
}
