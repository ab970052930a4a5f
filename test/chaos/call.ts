import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { createResponse, digestOf, type ChaosRoute, type KnownResponse } from "./responses.ts";
import type { Observations, ReceivedRequest } from "./observations.ts";
import { firstEvent } from "./first-event.ts";
import { acrossMagnitudes, between, type Random } from "./random.ts";

/** What is known of a request when its head has arrived. */
export interface CallFacts {
  nonce: string;
  route: ChaosRoute;
  isStream: boolean;
  random: Random;
  /** The key in the request. */
  key: string;
  received: ReceivedRequest;
  observations: Observations;
  /** True while no other request has arrived on its connection. */
  isLatest(): boolean;
}

/** One request at the hostile upstream, and the actions that behaviours are made of. */
export class Call {
  readonly facts: CallFacts;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;

  constructor(facts: CallFacts, req: IncomingMessage, res: ServerResponse) {
    this.facts = facts;
    this.req = req;
    this.res = res;
  }

  get socket(): Socket {
    return this.req.socket;
  }

  get isOver(): boolean {
    return this.socket.destroyed;
  }

  note(what: string): void {
    this.facts.observations.note(this.facts.nonce, `upstream: ${what}`);
  }

  /** Reads the body. Returns false when it is truncated. */
  async readUpload(): Promise<boolean> {
    const { received } = this.facts;
    const hash = createHash("sha1");
    this.req.on("data", (chunk: Buffer) => {
      hash.update(chunk);
      received.bodyBytes += chunk.length;
    });
    if (!this.req.readableEnded && (await firstEvent(this.req, "end", "close")) === "close") return false;
    received.bodyDigest = hash.digest("hex");
    return true;
  }

  /** Makes a valid response with a text of `textBytes`, by default a random length. */
  createResponse(textBytes = acrossMagnitudes(this.facts.random, 10, 20_000)): KnownResponse {
    return createResponse({ ...this.facts, textBytes });
  }

  /** Compresses a response: other bytes, the same meaning. */
  compress(response: KnownResponse): KnownResponse {
    const body = gzipSync(Buffer.concat(response.chunks));
    return { ...response, chunks: [body], expected: { ...response.expected, digest: digestOf(body) } };
  }

  /** Waits for up to `maxMs`. */
  async pause(maxMs: number): Promise<void> {
    await delay(between(this.facts.random, 0, maxMs));
  }

  /** The headers of every response, without its framing. */
  headers(response: KnownResponse, more: readonly string[] = []): string[] {
    return ["content-type", response.contentType, "request-id", `req_${this.facts.nonce}`, ...more];
  }

  /** Sends a complete response, with a length or in chunks, with a pause of at most `pauseMs` before each chunk. */
  async sendResponse(
    response: KnownResponse,
    { pauseMs = 0, more = [] as readonly string[] } = {},
  ): Promise<void> {
    const length = response.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const isChunked = response.contentType.startsWith("text/event-stream") || this.facts.random() < 0.3;
    const framing = isChunked ? [] : ["content-length", String(length)];
    this.facts.received.expectedIfCut = response.expected;
    this.res.writeHead(response.expected.status, this.headers(response, [...more, ...framing]));
    await this.sendChunks(response.chunks, pauseMs);
    if (this.isOver) return;
    this.markSent(response);
    this.res.end();
    this.note("responded completely");
  }

  /** Writes chunks with back-pressure until the connection is closed. */
  async sendChunks(chunks: readonly Buffer[], pauseMs = 0): Promise<void> {
    for (const chunk of chunks) {
      if (pauseMs > 0) await this.pause(pauseMs);
      if (this.isOver) return;
      if (!this.res.write(chunk)) await firstEvent(this.res, "drain", "close");
    }
  }

  /** Records that the whole response was sent and how it ends. */
  markSent(
    { expected }: Pick<KnownResponse, "expected">,
    ending: ReceivedRequest["ending"] = "complete",
  ): void {
    this.facts.received.expected = expected;
    this.facts.received.ending = ending;
  }

  /** Writes bytes without Node's framing. The connection cannot be used afterwards. */
  writeRaw(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** Formats the head of a response. */
  rawHead(status: string, headers: readonly string[]): string {
    const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}\r\n`] : []));
    return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`;
  }

  /** Closes the connection with a reset, or as if it had ended. */
  breakConnection(how: "reset" | "end"): void {
    this.note(`closed the connection with a ${how}`);
    if (how === "reset") this.socket.resetAndDestroy();
    else this.socket.end(() => this.socket.destroy());
  }
}
