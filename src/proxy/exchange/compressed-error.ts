import type { ServerResponse } from "node:http";
import * as zlib from "node:zlib";
import { HeaderIndex } from "../../core/http/header-index.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { writeHead, type Head, type ResponseWriter } from "./response-writer.ts";
import type { SendQueue } from "./send-queue.ts";

/** Errors are short. One that is longer when decoded is not searched. */
const DECODED_LIMIT_BYTES = 1024 * 1024;

/**
 * Writes an error that is compressed although we asked for `identity`. The body is held until its end and searched for our key
 * in plain text (SECURITY.md B8). Without the key it is sent unchanged; with it, as redacted plain text. A body that cannot
 * be searched, because it is longer than a queue may be or Node lacks the encoding, is dropped.
 */
export class CompressedError implements ResponseWriter {
  bytes = 0;
  readonly #res: ServerResponse;
  readonly #queue: SendQueue;
  readonly #head: Head;
  readonly #encoding: string;
  readonly #secret: Secret;
  /** null for a body that is too long. */
  #chunks: Buffer[] | null = [];
  #heldBytes = 0;
  #headers: HeaderIndex;
  #body: Buffer = Buffer.alloc(0);

  /** `encoding` is the body's `content-encoding`, in lower case. */
  constructor(res: ServerResponse, queue: SendQueue, head: Head, encoding: string, secret: Secret) {
    this.#res = res;
    this.#queue = queue;
    this.#head = head;
    this.#encoding = encoding;
    this.#secret = secret;
    this.#headers = head.headers;
  }

  /** Does nothing: the head depends on the body. */
  flush(): void {}

  write(chunk: Buffer): void {
    if (this.#chunks === null) return;
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.length;
    this.#queue.hold(this.#heldBytes);
    // Nothing will be taken from it before its end, so waiting for room would be waiting for ever.
    if (!this.#queue.hasRoom) this.#drop();
  }

  complete(): void {
    const compressed = this.#chunks === null ? null : Buffer.concat(this.#chunks);
    const plain = compressed === null ? null : decode(compressed, this.#encoding);
    if (compressed !== null && plain !== null && !this.#secret.isIn(plain.toString("latin1"))) {
      this.#body = compressed;
    } else {
      this.#body = plain ?? Buffer.alloc(0);
      this.#secret.redactBytes(this.#body);
      const length = String(this.#body.length);
      this.#headers = new HeaderIndex([...withoutFraming(this.#head.headers), "content-length", length]);
    }
    this.bytes = this.#body.length;
  }

  end(): void {
    writeHead(this.#res, { ...this.#head, headers: this.#headers }, this.#secret);
    this.#res.end(this.#body);
    this.#queue.hold(0);
  }

  #drop(): void {
    this.#chunks = null;
    this.#queue.hold(0);
  }
}

/** Returns null for an encoding that Node lacks, and for a body that inflates beyond the limit (SECURITY.md D6). */
function decode(bytes: Buffer, encoding: string): Buffer | null {
  const options = { maxOutputLength: DECODED_LIMIT_BYTES };
  if (bytes.length === 0) return bytes;
  try {
    switch (encoding) {
      case "gzip":
      case "x-gzip":
        return zlib.gunzipSync(bytes, options);
      case "deflate":
        return zlib.inflateSync(bytes, options);
      case "br":
        return zlib.brotliDecompressSync(bytes, options);
      case "zstd":
        return decodeZstd(bytes, options);
      default:
        return null;
    }
  } catch {
    return null;
  }
}

/** Node has zstd since 22.15. The meter's decoder for older versions loads slowly, and this must not wait. */
function decodeZstd(bytes: Buffer, options: zlib.ZlibOptions): Buffer | null {
  const decompress: unknown = Reflect.get(zlib, "zstdDecompressSync");
  return typeof decompress === "function" ? (decompress(bytes, options) as Buffer) : null;
}

function withoutFraming({ lines }: HeaderIndex): string[] {
  return lines.flatMap(({ policy, rawName, value }) => (FRAMING.has(policy.name) ? [] : [rawName, value]));
}

const FRAMING = new Set(["content-encoding", "content-length", "transfer-encoding"]);
