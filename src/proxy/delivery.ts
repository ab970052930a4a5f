import type { IncomingMessage, ServerResponse } from "node:http";
import { createBlotter, type Blotter } from "../core/blotter.ts";
import { buildDownstreamHeaders } from "../core/headers.ts";
import type { Secret } from "../core/secret.ts";
import { CompressedError } from "./compressed-error.ts";

/** Node's `writeHead` throws on anything else in a reason phrase. */
const REASON_PHRASE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** From here on it is no answer to what was asked, and its body is searched for our key. */
const FIRST_SEARCHED_STATUS = 300;

/** Answers that end with their head (RFC 9112 section 6.3). */
const BODILESS = new Set([204, 304]);

/** The upstream's answer on its way to the client. */
export interface Delivery {
  /** Body bytes handed over so far, those held back included. */
  readonly bytes: number;
  /** Hands on the next piece of the body; false: the client does not keep up, wait for `drain`. */
  write(chunk: Buffer): boolean;
  /** Counts what is still held back: call before the record is written, then {@link Delivery.end}. */
  complete(): void;
  /** Lets go of what was held back, and ends the answer. */
  end(): void;
}

/** Begins to deliver. Throws nothing that a head could hold: what Node would refuse is left out. */
export function deliver(res: ServerResponse, answer: IncomingMessage, secret: Secret): Delivery {
  const { statusCode: status = 0, headers } = answer;
  res.sendDate = false;
  if (status < FIRST_SEARCHED_STATUS) return new Direct(res, answer, secret, null);
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") {
    return new Direct(res, answer, secret, createBlotter(secret));
  }
  const head = (rawHeaders: string[]) => writeHead(res, { ...headOf(answer), rawHeaders }, secret);
  return new CompressedError(res, { encoding, rawHeaders: answer.rawHeaders, secret, writeHead: head });
}

/**
 * Unbuffered, but for two things that are held back. The piece that completes an announced length waits for
 * {@link Delivery.end}, so that the record can be written before the client sees its last byte. And of an error body the
 * end is withheld that could be the beginning of our key.
 */
class Direct implements Delivery {
  bytes = 0;
  readonly #res: ServerResponse;
  readonly #blotter: Blotter | null;
  readonly #announcedBytes: number | null;
  readonly #held: Buffer[] = [];

  /** Sends the head. */
  constructor(res: ServerResponse, answer: IncomingMessage, secret: Secret, blotter: Blotter | null) {
    const { headers } = answer;
    this.#res = res;
    this.#blotter = blotter;
    this.#announcedBytes = headers["content-length"] === undefined ? null : Number(headers["content-length"]);
    writeHead(res, headOf(answer), secret);
    // The head of a stream must not wait for its first event; one without a body is the whole answer, and waits for its record.
    const { statusCode = 0 } = answer;
    if (this.#announcedBytes === null && !BODILESS.has(statusCode)) res.flushHeaders();
  }

  write(chunk: Buffer): boolean {
    return this.#send(this.#blotter?.push(chunk) ?? chunk);
  }

  complete(): void {
    if (this.#blotter === null) return;
    const rest = this.#blotter.end();
    this.bytes += rest.length;
    this.#held.push(rest);
  }

  end(): void {
    this.#res.end(this.#held.length === 1 ? this.#held[0] : Buffer.concat(this.#held));
  }

  #send(bytes: Buffer): boolean {
    if (bytes.length === 0) return true;
    this.bytes += bytes.length;
    if (this.#announcedBytes !== null && this.bytes >= this.#announcedBytes) {
      this.#held.push(bytes);
      return true;
    }
    return this.#res.write(bytes);
  }
}

interface Head {
  status: number;
  reason: string;
  rawHeaders: string[];
}

function headOf({ statusCode = 0, statusMessage = "", rawHeaders }: IncomingMessage): Head {
  return { status: statusCode, reason: statusMessage, rawHeaders };
}

function writeHead(res: ServerResponse, { status, reason, rawHeaders }: Head, secret: Secret): void {
  const text = secret.blotText(reason);
  res.writeHead(status, REASON_PHRASE.test(text) ? text : "", buildDownstreamHeaders(rawHeaders, secret));
}
