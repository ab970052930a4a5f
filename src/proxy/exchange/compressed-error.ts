import type { ServerResponse } from "node:http";
import * as zlib from "node:zlib";
import { HeaderIndex } from "../../core/http/header-index.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { ResponseWriter } from "./response-writer.ts";

/** Errors are short; one that is longer, compressed or decoded, is not searched. */
const LIMIT_BYTES = 1024 * 1024;

/** What a compressed error needs besides its client. */
export interface CompressedErrorOrder {
  encoding: string;
  headers: HeaderIndex;
  secret: Secret;
  writeHead(headers: HeaderIndex): void;
}

/**
 * An error that came compressed although we had asked for `identity`: held back to its end and searched for our key in
 * its plain form (facts/threats.md B8). It goes on as it came, unless the key is in it: then as plain text without it. One
 * that cannot be searched, being too large or in an encoding that Node does not have, loses its body.
 */
export class CompressedError implements ResponseWriter {
  bytes = 0;
  readonly #res: ServerResponse;
  readonly #order: CompressedErrorOrder;
  readonly #chunks: Buffer[] = [];
  #heldBytes = 0;
  #headers: HeaderIndex;
  #body: Buffer = Buffer.alloc(0);

  constructor(res: ServerResponse, order: CompressedErrorOrder) {
    this.#res = res;
    this.#order = order;
    this.#headers = order.headers;
  }

  /** There is no head before there is a body. */
  flush(): void {}

  write(chunk: Buffer): boolean {
    this.#heldBytes += chunk.length;
    if (this.#heldBytes <= LIMIT_BYTES) this.#chunks.push(chunk);
    return true;
  }

  complete(): void {
    const { encoding, headers, secret } = this.#order;
    const compressed = Buffer.concat(this.#chunks);
    const plain = this.#heldBytes <= LIMIT_BYTES ? decode(compressed, encoding) : null;
    if (plain !== null && !secret.isIn(plain.toString("latin1"))) {
      this.#body = compressed;
    } else {
      this.#body = plain ?? Buffer.alloc(0);
      secret.redactBytes(this.#body);
      const length = String(this.#body.length);
      this.#headers = new HeaderIndex([...withoutFraming(headers), "content-length", length]);
    }
    this.bytes = this.#body.length;
  }

  end(): void {
    this.#order.writeHead(this.#headers);
    this.#res.end(this.#body);
  }
}

/** null: cannot be read here, or unfolds to more than an error has to say (a bomb, facts/threats.md D6). */
function decode(bytes: Buffer, encoding: string): Buffer | null {
  const options = { maxOutputLength: LIMIT_BYTES };
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

/** Node has zstd since 22.15. */
function decodeZstd(bytes: Buffer, options: zlib.ZlibOptions): Buffer | null {
  const decompress: unknown = Reflect.get(zlib, "zstdDecompressSync");
  return typeof decompress === "function" ? (decompress(bytes, options) as Buffer) : null;
}

function withoutFraming({ lines }: HeaderIndex): string[] {
  return lines.flatMap(({ name, spelled, value }) => (FRAMING.has(name.lower) ? [] : [spelled, value]));
}

const FRAMING = new Set(["content-encoding", "content-length", "transfer-encoding"]);
