import type { Answer, Dialect } from "./answer.ts";
import { EventOpening, findOpeningType } from "./event-opening.ts";
import type { TypeSpan } from "./event-opening.ts";
import { isFields, textOf } from "./fields.ts";
import { hasTextAt } from "./has-text-at.ts";
import { JsonScan } from "./json-scan.ts";
import type { Fields } from "./json-scan.ts";
import { SseScan } from "./sse-scan.ts";
import type { EventSink } from "./sse-scan.ts";

const CLOSE_BRACE = 0x7d;

/**
 * Reads the events of a stream that its dialect wants, and hands them to the answer. An event that opens with a type
 * that is not wanted tells nothing, whatever follows, and is skipped unread when its line comes in one chunk, which is
 * nearly all of them.
 */
export class EventScan implements EventSink {
  readonly #dialect: Dialect;
  readonly #answer: Answer;
  readonly #wanted: Buffer[];
  readonly #json: JsonScan;
  readonly #opening = new EventOpening();
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
    if (bytes[to - 1] !== CLOSE_BRACE) return false;
    const type = findOpeningType(bytes, from, to);
    if (type === null || this.#wants(bytes, type)) return false;
    this.#hasContent ||= this.#dialect.isContent(bytes.toString("latin1", type.start, type.end));
    return true;
  }

  data(part: Buffer): void {
    this.#opening.add(part);
    this.#json.feed(part);
  }

  end(name: string | null, isEnded: boolean): void {
    const opened = this.#opening.type;
    if (opened !== null && !this.#dialect.eventTypes.includes(opened)) this.#pass(opened, isEnded);
    else this.#take(name, isEnded);
    this.#json.reset();
    this.#opening.reset();
  }

  /** The same as {@link EventScan.skips}, for an event whose line came in several chunks. */
  #pass(type: string, isEnded: boolean): void {
    this.#hasContent ||= this.#dialect.isContent(type);
    this.#isReadable &&= isEnded || this.#json.isComplete || this.#opening.lastByte === CLOSE_BRACE;
  }

  #take(name: string | null, isEnded: boolean): void {
    const { fields, isComplete } = this.#json;
    const type = textOf(fields["type"]) ?? name ?? impliedType(fields);
    const isWanted = type === null || this.#dialect.eventTypes.includes(type);
    if (!isComplete) this.#isReadable &&= isEnded && !isWanted;
    else if (type !== null) this.#takeEvent(type, fields, isWanted);
  }

  #takeEvent(type: string, fields: Fields, isWanted: boolean): void {
    if (isWanted) this.#answer.takeEvent(type, fields);
    else this.#hasContent ||= this.#dialect.isContent(type);
  }

  #wants(bytes: Buffer, { start, end }: TypeSpan): boolean {
    return this.#wanted.some((type) => type.length === end - start && hasTextAt(bytes, start, end, type));
  }
}

/** Some gateways send an error as `{"error":{...}}` without saying that it is one. */
function impliedType(fields: Fields): string | null {
  return isFields(fields["error"]) ? "error" : null;
}
