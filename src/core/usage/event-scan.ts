import type { Answer, Dialect } from "./answer.ts";
import { isFields, textOf } from "./fields.ts";
import { hasTextAt } from "./has-text-at.ts";
import { JsonScan } from "./json-scan.ts";
import type { Fields } from "./json-scan.ts";
import { SseScan } from "./sse-scan.ts";
import type { EventSink } from "./sse-scan.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const CLOSE_BRACE = 0x7d;
const TYPE_MEMBER = Buffer.from('{"type":');

/**
 * Reads the events of a stream that its dialect wants, and hands them to the answer. An event that begins with a type
 * that is not wanted is skipped unread, which is nearly all of them; one whose line is spread over chunks is read
 * all the same, so that the result does not depend on the chunking.
 */
export class EventScan implements EventSink {
  readonly #dialect: Dialect;
  readonly #answer: Answer;
  readonly #wanted: Buffer[];
  readonly #json: JsonScan;
  readonly #sse = new SseScan(this);
  #hasContent = false;
  #isReadable = true;

  constructor(dialect: Dialect, answer: Answer) {
    this.#dialect = dialect;
    this.#answer = answer;
    this.#wanted = dialect.eventTypes.map((type) => Buffer.from(type));
    this.#json = new JsonScan(dialect.event);
  }

  feed(chunk: Buffer): void {
    this.#sse.feed(chunk);
  }

  /** Has an event with content been seen? */
  get hasContent(): boolean {
    return this.#hasContent;
  }

  /** The stream is over. Returns false when an event that mattered, or the interrupted last one, was not whole JSON. */
  finish(): boolean {
    this.#sse.finish();
    return this.#isReadable;
  }

  skips(bytes: Buffer, from: number, to: number): boolean {
    const start = typeStart(bytes, from, to);
    if (start === -1) return false;
    const end = typeEnd(bytes, start, to);
    if (end === -1 || this.#wants(bytes, start, end)) return false;
    this.#noteContent(bytes, start, end);
    return true;
  }

  data(part: Buffer): void {
    this.#json.feed(part);
  }

  end(name: string | null, isEnded: boolean): void {
    const { fields, isComplete } = this.#json;
    const type = textOf(fields["type"]) ?? name ?? impliedType(fields);
    const isWanted = type === null || this.#dialect.eventTypes.includes(type);
    this.#json.reset();
    if (!isComplete) this.#isReadable &&= isEnded && !isWanted;
    else if (type !== null) this.#takeEvent(type, fields, isWanted);
  }

  #takeEvent(type: string, fields: Fields, isWanted: boolean): void {
    if (isWanted) this.#answer.takeEvent(type, fields);
    else this.#hasContent ||= this.#dialect.isContent(type);
  }

  #wants(bytes: Buffer, start: number, end: number): boolean {
    return this.#wanted.some((type) => type.length === end - start && hasTextAt(bytes, start, end, type));
  }

  #noteContent(bytes: Buffer, start: number, end: number): void {
    this.#hasContent ||= this.#dialect.isContent(bytes.toString("latin1", start, end));
  }
}

/** Where the type's text begins in data that opens with it and ends as an object does; else -1. */
function typeStart(bytes: Buffer, from: number, to: number): number {
  if (bytes[to - 1] !== CLOSE_BRACE || !hasTextAt(bytes, from, to, TYPE_MEMBER)) return -1;
  const afterColon = from + TYPE_MEMBER.length;
  const quote = bytes[afterColon] === SPACE ? afterColon + 1 : afterColon;
  return bytes[quote] === QUOTE ? quote + 1 : -1;
}

/** Where the type's text ends; -1 when it has an escape, which is left to the JSON reader. */
function typeEnd(bytes: Buffer, start: number, to: number): number {
  for (let at = start; at < to; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) return -1;
  }
  return -1;
}

/** Some gateways send an error as `{"error":{...}}` without saying that it is one. */
function impliedType(fields: Fields): string | null {
  return isFields(fields["error"]) ? "error" : null;
}
