import type { IncomingMessage, ServerResponse } from "node:http";
import { createBlotter, type Blotter } from "../core/blotter.ts";
import { buildDownstreamHeaders } from "../core/headers.ts";
import type { Secret } from "../core/secret.ts";

/** Node's `writeHead` throws on anything else in a reason phrase. */
const REASON_PHRASE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

const FIRST_ERROR_STATUS = 400;

/**
 * The upstream's answer on its way to the client: unbuffered, but for two things that are held back. The piece that
 * completes an announced length waits for {@link Delivery.end}, so that the record can be written before the client sees
 * its last byte. And of an error body the end is withheld that could be the beginning of our key.
 */
export class Delivery {
  /** Body bytes handed over so far, those held back included. */
  bytes = 0;
  readonly #res: ServerResponse;
  readonly #blotter: Blotter | null;
  readonly #announcedBytes: number | null;
  readonly #held: Buffer[] = [];

  /** Sends the head. Throws nothing that a head could hold: what Node would refuse is left out. */
  constructor(res: ServerResponse, answer: IncomingMessage, secret: Secret) {
    const { statusCode: status = 0, statusMessage = "", headers, rawHeaders } = answer;
    const reason = secret.blotText(statusMessage);
    this.#res = res;
    this.#blotter = status >= FIRST_ERROR_STATUS ? createBlotter(secret) : null;
    this.#announcedBytes = headers["content-length"] === undefined ? null : Number(headers["content-length"]);
    res.sendDate = false;
    res.writeHead(
      status,
      REASON_PHRASE.test(reason) ? reason : "",
      buildDownstreamHeaders(rawHeaders, secret),
    );
    // The head of a stream must not wait for its first event.
    if (this.#announcedBytes === null) res.flushHeaders();
  }

  /** Hands on the next piece of the body; false: the client does not keep up, wait for `drain`. */
  write(chunk: Buffer): boolean {
    return this.#send(this.#blotter?.push(chunk) ?? chunk);
  }

  /** Counts what is still held back: call before the record is written, then {@link Delivery.end}. */
  complete(): void {
    if (this.#blotter === null) return;
    const rest = this.#blotter.end();
    this.bytes += rest.length;
    this.#held.push(rest);
  }

  /** Lets go of what was held back, and ends the answer. */
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
