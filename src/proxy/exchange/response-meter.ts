import * as zlib from "node:zlib";
import type { Transform } from "node:stream";
import { createMeter, type Meter, type MeterSetup } from "../../core/usage/meter.ts";
import type { MeterReading } from "../../core/usage/reading.ts";
import { createZstd } from "./zstd-decoder.ts";

/**
 * How far a compressed response may inflate before the meter gives up (SECURITY.md D6: gzip bombs). Only the meter's copy is
 * decoded, chunk by chunk, so this limits work, not memory.
 */
const DECODED_LIMIT_BYTES = 256 * 1024 * 1024;
/** Compressed bytes that may wait for a decoder that is slower than the response. */
const WAITING_LIMIT_BYTES = 4 * 1024 * 1024;

/** Meters a copy of one response, as it is on the wire. No failure in here affects the exchange. */
export interface ResponseMeter extends Pick<Meter, "feed" | "hasContent" | "readSoFar"> {
  /** As in {@link Meter}. True, too, for a body that could not be decoded. */
  readonly isFinished: boolean;
  /** As in {@link Meter}. Returns the reading at once, unless a decoder has to finish. */
  finish(...ended: Parameters<Meter["finish"]>): MeterReading | Promise<MeterReading>;
}

/** Creates the meter for a response with the given `content-encoding` (null or `identity`: none). */
export function createResponseMeter(setup: MeterSetup, contentEncoding: string | null): ResponseMeter {
  const meter = createMeter(setup);
  const encoding = contentEncoding?.toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return meter;
  return new DecodingMeter(meter, createDecoder(encoding));
}

/** Meters a compressed body from an upstream that ignores `accept-encoding: identity`. The client gets the bytes as they are. */
class DecodingMeter implements ResponseMeter {
  readonly #meter: Meter;
  #decoder: Transform | null;
  #decodedBytes = 0;
  #failed: boolean;
  #onSettled: () => void = ignore;

  constructor(meter: Meter, decoder: Transform | null) {
    this.#meter = meter;
    this.#decoder = decoder;
    this.#failed = decoder === null;
    decoder?.on("data", (chunk: Buffer) => this.#onDecoded(chunk));
    decoder?.on("end", () => this.#onSettled());
    decoder?.on("close", () => this.#onSettled());
    decoder?.on("error", () => this.#giveUp());
  }

  get hasContent(): boolean {
    return this.#meter.hasContent;
  }

  get isFinished(): boolean {
    return this.#failed || this.#meter.isFinished;
  }

  feed(chunk: Buffer): void {
    if (this.#decoder === null) return;
    this.#decoder.write(chunk);
    if (this.#decoder.writableLength > WAITING_LIMIT_BYTES) this.#giveUp();
  }

  readSoFar(): MeterReading {
    const reading = this.#meter.readSoFar();
    return this.#failed ? withoutUsage(reading, false) : reading;
  }

  finish(isWhole: boolean, hasClientLeft = false, isFramed = true): MeterReading | Promise<MeterReading> {
    const read = () => {
      const reading = this.#meter.finish(isWhole && !this.#failed, hasClientLeft, isFramed);
      return this.#failed ? withoutUsage(reading, isWhole) : reading;
    };
    const decoder = this.#decoder;
    // With bytes after the end of the compressed data, a decoder ends before its input does, and does not end twice.
    if (decoder === null || decoder.readableEnded || decoder.destroyed) return read();
    const decoded = new Promise<void>((resolve) => (this.#onSettled = resolve));
    decoder.end();
    return decoded.then(read);
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
    this.#onSettled();
  }
}

/** `finishFlush` makes a truncated body yield what it contains instead of an error. Returns null for an unknown encoding. */
export function createDecoder(encoding: string): Transform | null {
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

/** A decoding error only makes the usage absent. The outcome of the exchange stays what it was. */
function withoutUsage(reading: MeterReading, whole: boolean): MeterReading {
  const ended = whole && reading.outcome === "cut" ? "completed" : reading.outcome;
  if (reading.usage === "none") return { ...reading, outcome: ended };
  return {
    ...reading,
    outcome: ended,
    usage: "absent",
    spend: "never",
    tokens: null,
    extra: [],
    billed_usd: null,
    raw_usage: null,
    flags: [...reading.flags, "decode_failed"],
    output_estimate: null,
    smallest_prompt: null,
    largest_prompt: null,
    miss: null,
    miss_by: null,
    miss_tokens: null,
    output_file: null,
  };
}

function ignore(): void {}
