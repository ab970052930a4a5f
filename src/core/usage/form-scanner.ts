import type { RequestScanner } from "./request-scanner.ts";

const NOTHING = Buffer.alloc(0);
const HEAD_END = "\r\n\r\n";

/** Limits of a part's head and of a text, in bytes. A part with a longer one is passed over. */
const HEAD_BYTES = 1024;
const TEXT_BYTES = 1024;

/** `boundary` in a content type (RFC 2046 section 5.1.1). */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))\s*(?:;|$)/i;

/** A part that is a text: it has a name and no file. */
const NAME = /^content-disposition:(?![^\r\n]*;\s*filename)[^\r\n]*;\s*name="?([^"\r\n;]*)"?/im;

/** Returns a scanner of a form with files; null for any other content type, or one without a boundary. */
export function createFormScanner(contentType: string): RequestScanner | null {
  const [, quoted, plain] = /^\s*multipart\//i.test(contentType) ? (BOUNDARY.exec(contentType) ?? []) : [];
  const boundary = quoted ?? plain;
  return boundary === undefined ? null : new FormScanner(boundary);
}

/**
 * Reads the texts `model` and `stream` of a form (RFC 7578) for the record, as it passes. Nothing is decided by them: a service may read
 * a form otherwise. Of a text that stands twice there is none. Keeps copies of two kilobytes at most.
 */
class FormScanner implements RequestScanner {
  readonly background = null;
  readonly videoSeconds = null;
  readonly readPrompt = null;
  /** What precedes a part's head. */
  readonly #delimiter: Buffer;
  readonly #texts = new Map<string, string | null>();
  #state: "content" | "head" | "text" | "end" = "content";
  #name = "";
  /** In content, the last bytes, in which a delimiter may have begun; else all of the head or of the text so far. */
  #kept: Buffer;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
    // The first one is at the very beginning.
    this.#kept = Buffer.from("\r\n");
  }

  get model(): string | null {
    return this.#texts.get("model") ?? null;
  }

  get stream(): boolean | null {
    const text = this.#texts.get("stream");
    return text === "true" || text === "false" ? text === "true" : null;
  }

  feed(chunk: Buffer): void {
    let rest: Buffer | null = chunk;
    while (rest !== null && this.#state !== "end") {
      if (this.#state === "content") rest = this.#skipContent(rest);
      else if (this.#state === "head") rest = this.#readHead(rest);
      else rest = this.#readText(rest);
    }
  }

  /** Each of these returns what follows in the chunk; null where the chunk ends first. */
  #skipContent(chunk: Buffer): Buffer | null {
    const { length } = this.#delimiter;
    const seam = Buffer.concat([this.#kept, chunk.subarray(0, length)]);
    const atSeam = seam.indexOf(this.#delimiter);
    const end = atSeam === -1 ? chunk.indexOf(this.#delimiter) : atSeam - this.#kept.length;
    if (end !== -1 || atSeam !== -1) return this.#go("head", chunk.subarray(end + length));
    // Copied: the chunk is not ours to keep.
    const last = chunk.length < length ? seam : chunk;
    this.#kept = Buffer.from(last.subarray(Math.max(0, last.length - length + 1)));
    return null;
  }

  #readHead(chunk: Buffer): Buffer | null {
    const before = this.#kept.length;
    const head = Buffer.concat([this.#kept, chunk.subarray(0, HEAD_BYTES - before)]);
    if (head.toString("latin1", 0, 2) === "--") return this.#go("end", NOTHING);
    const end = head.indexOf(HEAD_END);
    if (end === -1 && head.length === HEAD_BYTES) return this.#go("content", chunk);
    if (end === -1) {
      this.#kept = head;
      return null;
    }
    this.#name = NAME.exec(head.toString("latin1", 2, end))?.[1] ?? "";
    const isWanted = this.#name === "model" || this.#name === "stream";
    // A delimiter may begin with the end of the head.
    const next = chunk.subarray(end + HEAD_END.length - before);
    return isWanted ? this.#go("text", next) : this.#go("content", next);
  }

  #readText(chunk: Buffer): Buffer | null {
    const before = this.#kept.length;
    const most = TEXT_BYTES + this.#delimiter.length;
    const text = Buffer.concat([this.#kept, chunk.subarray(0, most - before)]);
    const end = text.indexOf(this.#delimiter);
    if (end === -1 && text.length === most) return this.#go("content", chunk);
    if (end === -1) {
      this.#kept = text;
      return null;
    }
    this.#texts.set(this.#name, this.#texts.has(this.#name) ? null : text.toString("utf8", 0, end));
    return this.#go("head", chunk.subarray(end + this.#delimiter.length - before));
  }

  #go(state: "content" | "head" | "text" | "end", rest: Buffer): Buffer | null {
    this.#state = state;
    this.#kept = NOTHING;
    return rest;
  }
}
