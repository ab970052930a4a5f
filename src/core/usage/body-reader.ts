import type { Answer, Dialect } from "./dialect.ts";
import { EventScan } from "./sse/event-scan.ts";
import { isSpace } from "./json/is-space.ts";
import { JsonScan } from "./json/json-scan.ts";

/** A body in one of the two formats. */
interface BodyScan {
  feed(chunk: Buffer): void;
  readonly hasContent: boolean;
  /** The body is over. Returns false when a part of it that matters was no JSON. */
  finish(): boolean;
}

const EVENT_STREAM = /^\s*text\/event-stream/i;
const OPEN_BRACE = 0x7b;

/**
 * Hands an answer what its dialect wants of a body: the events of a `text/event-stream`, or else one JSON document.
 * Without a content type the first byte that is no white space decides, and begins the body: `{` begins JSON.
 */
export class BodyReader implements BodyScan {
  readonly #contentType: string | null;
  readonly #dialect: Dialect;
  readonly #answer: Answer;
  /** null until the first byte that says something. */
  #scan: BodyScan | null = null;

  constructor(contentType: string | null, dialect: Dialect, answer: Answer) {
    this.#contentType = contentType;
    this.#dialect = dialect;
    this.#answer = answer;
  }

  get hasContent(): boolean {
    return this.#scan?.hasContent ?? false;
  }

  feed(chunk: Buffer): void {
    const start = this.#scan === null ? this.#begin(chunk) : 0;
    this.#scan?.feed(start === 0 ? chunk : chunk.subarray(start));
  }

  finish(): boolean {
    return this.#scan?.finish() ?? true;
  }

  /** Tells the format, if that can be told yet; returns where the body begins. */
  #begin(chunk: Buffer): number {
    if (this.#contentType !== null && EVENT_STREAM.test(this.#contentType)) {
      this.#scan = new EventScan(this.#dialect, this.#answer);
      return 0;
    }
    let start = 0;
    while (isSpace(chunk[start] ?? 0)) start++;
    if (start === chunk.length) return 0;
    const isStream = this.#contentType === null && chunk[start] !== OPEN_BRACE;
    this.#scan = isStream
      ? new EventScan(this.#dialect, this.#answer)
      : new JsonBody(this.#dialect, this.#answer);
    return start;
  }
}

/** A body that is one JSON document; one that is not whole tells nothing. */
class JsonBody implements BodyScan {
  readonly hasContent = false;
  readonly #json: JsonScan;
  readonly #answer: Answer;

  constructor(dialect: Dialect, answer: Answer) {
    this.#json = new JsonScan(dialect.body);
    this.#answer = answer;
  }

  feed(chunk: Buffer): void {
    this.#json.feed(chunk);
  }

  finish(): boolean {
    if (this.#json.isComplete) this.#answer.takeBody(this.#json.fields);
    return this.#json.isComplete;
  }
}
