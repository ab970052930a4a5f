import type { ServerResponse } from "node:http";
import type { StreamRedactor } from "../../core/secrets/stream-redactor.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { writeHead, type Head, type ResponseWriter } from "./response-writer.ts";
import type { SendQueue } from "./send-queue.ts";

/** Up to this size the last chunk is sent as a string, which Node joins with the head: one buffer less. */
const ONE_WRITE_BYTES = 16 * 1024;

/**
 * Writes without buffering, except for two things. The chunk that completes an announced length waits for
 * {@link ResponseWriter.end}, so that the record is written before the client sees the last byte. And the last bytes of an
 * error body wait while they could be the start of our key.
 */
export class StreamingWriter implements ResponseWriter {
  bytes = 0;
  readonly #res: ServerResponse;
  readonly #queue: SendQueue;
  readonly #redactor: StreamRedactor | null;
  /** `content-length`; null for a body with other framing. */
  readonly #announcedBytes: number | null;
  #isFlushed = false;
  #held: Buffer | null = null;

  /** Writes the head. Node sends it together with the first chunk. */
  constructor(
    res: ServerResponse,
    queue: SendQueue,
    head: Head,
    secret: Secret,
    redactor: StreamRedactor | null,
  ) {
    const length = head.headers.get("content-length");
    this.#res = res;
    this.#queue = queue;
    this.#redactor = redactor;
    this.#announcedBytes = length === undefined ? null : Number(length);
    writeHead(res, head, secret);
  }

  flush(): void {
    if (this.#announcedBytes === null && !this.#isFlushed) this.#res.flushHeaders();
    this.#isFlushed = true;
  }

  write(chunk: Buffer): void {
    this.#send(this.#redactor?.push(chunk) ?? chunk);
  }

  complete(): void {
    if (this.#redactor === null) return;
    const rest = this.#redactor.end();
    this.bytes += rest.length;
    this.#hold(rest);
  }

  end(): void {
    const held = this.#held;
    this.#queue.flush();
    if (held === null) this.#res.end();
    else if (held.length <= ONE_WRITE_BYTES) this.#res.end(held.toString("latin1"), "latin1");
    else this.#res.end(held);
    this.#queue.count();
  }

  #send(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#isFlushed = true;
    this.bytes += bytes.length;
    if (this.#announcedBytes !== null && this.bytes >= this.#announcedBytes) this.#hold(bytes);
    else this.#queue.write(bytes);
  }

  #hold(bytes: Buffer): void {
    this.#held = this.#held === null ? bytes : Buffer.concat([this.#held, bytes]);
  }
}
