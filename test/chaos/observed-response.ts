import { createHash } from "node:crypto";
import { MessageReader, valuesOf, type RawMessage } from "../helpers/client/http-messages.ts";
import type { ObservedResponse } from "./observations.ts";
import { Searcher } from "./searcher.ts";

/** Stands for the code of a refusal by Node's own parser: 400 without framing or body. */
export const BY_NODE = "by node";

/** One response as a client gets it, with what is searched for in it. Its body is not kept. */
export class ResponseObserver {
  readonly search = new Searcher();
  /** The number of 1xx responses before the final one. */
  interim = 0;
  /** True once the response has ended as its framing said. */
  isComplete = false;
  #head: RawMessage | null = null;
  #bodyBytes = 0;
  readonly #hash = createHash("sha1");
  readonly #reader = new MessageReader({
    onHead: (head, bytes) => {
      this.search.feed(bytes);
      if (statusOf(head) < 200) this.interim += 1;
      else this.#head = head;
    },
    onBody: (bytes, from, to) => {
      const part = bytes.subarray(from, to);
      this.#bodyBytes += part.length;
      this.#hash.update(part);
      this.search.feed(part);
    },
    onEnd: () => (this.isComplete = this.#head !== null),
  });

  /** What is no valid response; null while there is nothing wrong. */
  get fault(): string | null {
    return this.#reader.fault;
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
    let rest = bytes;
    while (rest.length > 0 && !this.isComplete) rest = this.#reader.feed(rest);
    return rest;
  }

  /** Notes that the connection ended cleanly. */
  end(): void {
    this.#reader.close();
  }
}

function isByNode({ start, headers }: RawMessage): boolean {
  return start === "HTTP/1.1 400 Bad Request" && headers.length === 1 && headers[0]?.[0] === "connection";
}

function statusOf({ start }: RawMessage): number {
  return Number(start.split(" ")[1]);
}
