import { createHash } from "node:crypto";
import { readHead, valuesOf, type RawMessage } from "../helpers/client/http-messages.ts";
import type { ObservedResponse } from "./observations.ts";
import { Searcher } from "./searcher.ts";

const MAX_HEAD_BYTES = 64 * 1024;
const CRLF = Buffer.from("\r\n");

/** Stands for the code of a refusal by Node's own parser: 400 without framing or body. */
export const BY_NODE = "by node";

type Part = "head" | "length" | "chunk head" | "chunk" | "chunk end" | "last line" | "until close" | "over";

/**
 * Reads one response from a connection as strictly as {@link readHead}, without keeping its body. A violation of the grammar is
 * `fault`. `isComplete` says whether the response ended as its framing said.
 */
export class ResponseReader {
  readonly search = new Searcher();
  /** The number of 1xx responses before the final one. */
  interim = 0;
  fault: string | null = null;
  #part: Part = "head";
  #text: Buffer = Buffer.alloc(0);
  #head: RawMessage | null = null;
  /** Bytes of the body, or of the current chunk, that are still missing. */
  #left = 0;
  #bodyBytes = 0;
  readonly #hash = createHash("sha1");

  get isComplete(): boolean {
    return this.#part === "over" && this.fault === null;
  }

  /** True when the response says `connection: close`. */
  get hasConnectionClose(): boolean {
    return this.#head !== null && valuesOf(this.#head, "connection").includes("close");
  }

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** The response so far; null before its head. May be called once. */
  result(): ObservedResponse | null {
    if (this.#head === null) return null;
    return {
      status: statusOf(this.#head),
      refusal: valuesOf(this.#head, "x-tollkeeper-refusal")[0] ?? (isByNode(this.#head) ? BY_NODE : null),
      bodyBytes: this.#bodyBytes,
      digest: this.#hash.digest("hex"),
      isComplete: this.isComplete,
    };
  }

  /** Reads the next bytes. Returns what follows the response. */
  feed(bytes: Buffer): Buffer {
    let rest = this.#text.length === 0 ? bytes : Buffer.concat([this.#text, bytes]);
    this.#text = Buffer.alloc(0);
    while (rest.length > 0 && this.#part !== "over" && this.fault === null) {
      const taken = this.#take(rest);
      if (taken === 0) {
        this.#text = Buffer.from(rest);
        return Buffer.alloc(0);
      }
      rest = rest.subarray(taken);
    }
    return rest;
  }

  /** Notes that the connection ended cleanly. */
  end(): void {
    if (this.#part === "until close") this.#part = "over";
  }

  /** Returns how many bytes were used; 0 when more are needed. */
  #take(bytes: Buffer): number {
    switch (this.#part) {
      case "head":
        return this.#takeHead(bytes);
      case "length":
        return this.#takeBody(bytes, "over");
      case "chunk":
        return this.#takeBody(bytes, "chunk end");
      case "until close":
        return this.#takeBody(bytes, "until close");
      case "chunk head":
      case "chunk end":
      case "last line":
        return this.#takeLine(bytes);
      case "over":
        return 0;
    }
  }

  #takeHead(bytes: Buffer): number {
    try {
      const head = readHead(bytes.toString("latin1", 0, MAX_HEAD_BYTES));
      if (head === null) return 0;
      this.search.feed(bytes.subarray(0, head.length));
      if (statusOf(head.message) < 200) this.interim += 1;
      else this.#begin(head.message);
      return head.length;
    } catch (error) {
      this.fault = error instanceof Error ? error.message : String(error);
      return 0;
    }
  }

  #begin(head: RawMessage): void {
    this.#head = head;
    const [length] = valuesOf(head, "content-length");
    const isChunked = valuesOf(head, "transfer-encoding").length > 0;
    if (isChunked && length !== undefined) this.fault = "framed twice";
    else if (isChunked) this.#part = "chunk head";
    else if (length !== undefined) this.#expect(Number(length), "length");
    else if ([204, 304].includes(statusOf(head))) this.#part = "over";
    else this.#expect(Infinity, "until close");
  }

  #expect(bytes: number, part: Part): void {
    this.#left = bytes;
    this.#part = bytes === 0 ? "over" : part;
  }

  #takeBody(bytes: Buffer, next: Part): number {
    const chunk = bytes.subarray(0, Math.min(bytes.length, this.#left));
    this.#left -= chunk.length;
    this.#bodyBytes += chunk.length;
    this.#hash.update(chunk);
    this.search.feed(chunk);
    if (this.#left === 0) this.#part = next;
    return chunk.length;
  }

  #takeLine(bytes: Buffer): number {
    const end = bytes.indexOf(CRLF);
    if (end === -1) return 0;
    const line = bytes.toString("latin1", 0, end);
    const isSize = this.#part === "chunk head";
    if (isSize ? !/^[0-9a-f]+$/i.test(line) : line !== "") this.fault = `line of a chunk: ${line}`;
    else if (this.#part === "last line") this.#part = "over";
    else if (this.#part === "chunk end") this.#part = "chunk head";
    else {
      this.#left = Number.parseInt(line, 16);
      this.#part = this.#left === 0 ? "last line" : "chunk";
    }
    return end + 2;
  }
}

function isByNode({ start, headers }: RawMessage): boolean {
  return start === "HTTP/1.1 400 Bad Request" && headers.length === 1 && headers[0]?.[0] === "connection";
}

function statusOf({ start }: RawMessage): number {
  return Number(start.split(" ")[1]);
}
