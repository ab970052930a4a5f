import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { createAnswer, digestOf, type ChaosRoute, type KnownAnswer } from "./answers.ts";
import type { Books, Seen } from "./books.ts";
import { firstEvent } from "./first-event.ts";
import { acrossMagnitudes, between, type Random } from "./random.ts";

/** What is known of a request when its head is there. */
export interface CallFacts {
  nonce: string;
  route: ChaosRoute;
  isStream: boolean;
  random: Random;
  /** The key that came with it. */
  key: string;
  seen: Seen;
  books: Books;
  /** Has no other request come on its connection since? */
  isLatest(): boolean;
}

/** One request at the evil upstream, with all that it may do to it. */
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
    this.facts.books.note(this.facts.nonce, `upstream: ${what}`);
  }

  /** Reads the body; false when it breaks off. */
  async readUpload(): Promise<boolean> {
    const { seen } = this.facts;
    const hash = createHash("sha1");
    this.req.on("data", (chunk: Buffer) => {
      hash.update(chunk);
      seen.bodyBytes += chunk.length;
    });
    if (!this.req.readableEnded && (await firstEvent(this.req, "end", "close")) === "close") return false;
    seen.bodyDigest = hash.digest("hex");
    return true;
  }

  /** A good answer of a few words, or of as many bytes as said. */
  answer(textBytes = acrossMagnitudes(this.facts.random, 10, 20_000)): KnownAnswer {
    return createAnswer({ ...this.facts, textBytes });
  }

  /** The answer's truth, compressed: other bytes on the wire, the same meaning. */
  compress(answer: KnownAnswer): KnownAnswer {
    const body = gzipSync(Buffer.concat(answer.pieces));
    return { ...answer, pieces: [body], truth: { ...answer.truth, digest: digestOf(body) } };
  }

  /** Waits for up to `maxMs`. */
  async hesitate(maxMs: number): Promise<void> {
    await delay(between(this.facts.random, 0, maxMs));
  }

  /** Header lines that every answer has, besides its framing. */
  headers(answer: KnownAnswer, more: readonly string[] = []): string[] {
    return ["content-type", answer.contentType, "request-id", `req_${this.facts.nonce}`, ...more];
  }

  /** Sends the whole answer: with its length, or in chunks. `pauseMs`: at most so long before each piece. */
  async sendWhole(answer: KnownAnswer, { pauseMs = 0, more = [] as readonly string[] } = {}): Promise<void> {
    const length = answer.pieces.reduce((sum, piece) => sum + piece.length, 0);
    const isChunked = answer.contentType.startsWith("text/event-stream") || this.facts.random() < 0.3;
    const framing = isChunked ? [] : ["content-length", String(length)];
    this.facts.seen.begun = answer.truth;
    this.res.writeHead(answer.truth.status, this.headers(answer, [...more, ...framing]));
    await this.sendPieces(answer.pieces, pauseMs);
    if (this.isOver) return;
    this.tell(answer);
    this.res.end();
    this.note("answered in full");
  }

  /** Writes pieces with back-pressure, until the connection is gone. */
  async sendPieces(pieces: readonly Buffer[], pauseMs = 0): Promise<void> {
    for (const piece of pieces) {
      if (pauseMs > 0) await this.hesitate(pauseMs);
      if (this.isOver) return;
      if (!this.res.write(piece)) await firstEvent(this.res, "drain", "close");
    }
  }

  /** All of the answer has been sent; it ends as said. */
  tell({ truth }: Pick<KnownAnswer, "truth">, ending: Seen["ending"] = "whole"): void {
    this.facts.seen.truth = truth;
    this.facts.seen.ending = ending;
  }

  /** Writes bytes past Node's own framing; the connection is good for nothing afterwards. */
  writeRaw(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** An answer's head as bytes. */
  rawHead(status: string, headers: readonly string[]): string {
    const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}\r\n`] : []));
    return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`;
  }

  /** Breaks the connection: with a reset, or as if it had ended. */
  breakOff(how: "reset" | "end"): void {
    this.note(`broke off with a ${how}`);
    if (how === "reset") this.socket.resetAndDestroy();
    else this.socket.end(() => this.socket.destroy());
  }
}
