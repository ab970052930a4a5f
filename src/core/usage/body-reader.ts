import type { Answer, Dialect } from "./answer.ts";
import { EventScan } from "./event-scan.ts";
import { JsonScan } from "./json-scan.ts";

/** A body in one of the two formats. */
interface BodyScan {
  feed(chunk: Buffer): void;
  readonly hasContent: boolean;
  /** The body is over. Returns false when a part of it that matters was no JSON. */
  finish(): boolean;
}

const EVENT_STREAM = /^\s*text\/event-stream/i;
const OPEN_BRACE = 0x7b;
const SPACES = new Set(Buffer.from(" \t\r\n"));

/**
 * Hands an answer what its dialect wants of a body: the events of a `text/event-stream`, or else one JSON document.
 * Without a content type the first byte that is no white space decides: `{` begins JSON.
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
    this.#scan ??= this.#begin(chunk);
    this.#scan?.feed(chunk);
  }

  finish(): boolean {
    return this.#scan?.finish() ?? true;
  }

  #begin(chunk: Buffer): BodyScan | null {
    const first = chunk.find((byte) => !SPACES.has(byte));
    if (first === undefined) return null;
    const isStream = this.#contentType === null ? first !== OPEN_BRACE : EVENT_STREAM.test(this.#contentType);
    return isStream ? new EventScan(this.#dialect, this.#answer) : new JsonBody(this.#dialect, this.#answer);
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
