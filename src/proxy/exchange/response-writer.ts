import type { ServerResponse } from "node:http";
import { createRedactor, type Redactor } from "../../core/secrets/redactor.ts";
import type { HeaderIndex } from "../../core/http/header-index.ts";
import { buildDownstreamHeaders } from "../../core/http/headers.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { CompressedError } from "./compressed-error.ts";

/** Node's `writeHead` throws on anything else in a reason phrase. */
const REASON_PHRASE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** From here on it is no answer to what was asked, and its body is searched for our key. */
const FIRST_SEARCHED_STATUS = 300;

/** The last piece of an answer up to this size goes out as text, which Node joins with the head: one buffer less. */
const ONE_WRITE_BYTES = 16 * 1024;

/** The head of an upstream's answer. */
export interface Head {
  status: number;
  reason: string;
  headers: HeaderIndex;
}

/** The upstream's answer on its way to the client. */
export interface ResponseWriter {
  /** Body bytes handed over so far, those held back included. */
  readonly bytes: number;
  /** Sends the head of a stream by itself, unless it is sent: it must not wait for the first event. */
  flush(): void;
  /** Hands on the next piece of the body; false: the client does not keep up, wait for `drain`. */
  write(chunk: Buffer): boolean;
  /** Counts what is still held back: call before the record is written, then {@link ResponseWriter.end}. */
  complete(): void;
  /** Lets go of what was held back, and ends the answer. */
  end(): void;
}

/** Begins to deliver. Throws nothing that a head could hold: what Node would refuse is left out. */
export function createResponseWriter(res: ServerResponse, head: Head, secret: Secret): ResponseWriter {
  res.sendDate = false;
  if (head.status < FIRST_SEARCHED_STATUS) return new Direct(res, head, secret, null);
  const encoding = head.headers.all("content-encoding")?.toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") {
    return new Direct(res, head, secret, createRedactor(secret));
  }
  const send = (headers: HeaderIndex) => writeHead(res, { ...head, headers }, secret);
  return new CompressedError(res, { encoding, headers: head.headers, secret, writeHead: send });
}

/**
 * Unbuffered, but for two things that are held back. The piece that completes an announced length waits for
 * {@link ResponseWriter.end}, so that the record can be written before the client sees its last byte. And of an error body the
 * end is withheld that could be the beginning of our key.
 */
class Direct implements ResponseWriter {
  bytes = 0;
  readonly #res: ServerResponse;
  readonly #blotter: Redactor | null;
  /** null: the body ends as its framing says. */
  readonly #announcedBytes: number | null;
  #isFlushed = false;
  #held: Buffer | null = null;

  /** Writes the head, which Node sends with what comes next. */
  constructor(res: ServerResponse, head: Head, secret: Secret, blotter: Redactor | null) {
    const length = head.headers.get("content-length");
    this.#res = res;
    this.#blotter = blotter;
    this.#announcedBytes = length === undefined ? null : Number(length);
    writeHead(res, head, secret);
  }

  flush(): void {
    if (this.#announcedBytes === null && !this.#isFlushed) this.#res.flushHeaders();
    this.#isFlushed = true;
  }

  write(chunk: Buffer): boolean {
    return this.#send(this.#blotter?.push(chunk) ?? chunk);
  }

  complete(): void {
    if (this.#blotter === null) return;
    const rest = this.#blotter.end();
    this.bytes += rest.length;
    this.#hold(rest);
  }

  end(): void {
    const held = this.#held;
    if (held === null) this.#res.end();
    else if (held.length <= ONE_WRITE_BYTES) this.#res.end(held.toString("latin1"), "latin1");
    else this.#res.end(held);
  }

  #send(bytes: Buffer): boolean {
    if (bytes.length === 0) {
      this.flush();
      return true;
    }
    this.#isFlushed = true;
    this.bytes += bytes.length;
    if (this.#announcedBytes !== null && this.bytes >= this.#announcedBytes) {
      this.#hold(bytes);
      return true;
    }
    return this.#res.write(bytes);
  }

  #hold(bytes: Buffer): void {
    this.#held = this.#held === null ? bytes : Buffer.concat([this.#held, bytes]);
  }
}

function writeHead(res: ServerResponse, { status, reason, headers }: Head, secret: Secret): void {
  const text = secret.redactText(reason);
  res.writeHead(status, REASON_PHRASE.test(text) ? text : "", buildDownstreamHeaders(headers, secret));
}
