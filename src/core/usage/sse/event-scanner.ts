import { isObject } from "../../json.ts";
import type { TypedFormat, UsageCollector } from "../usage-format.ts";
import { EventOpening, findTypeEnd, findTypeStart } from "./event-opening.ts";
import { asText } from "../fields.ts";
import { hasTextAt } from "../bytes.ts";
import { JsonScanner } from "../json/json-scanner.ts";
import { StreamedText, addMembers } from "../streamed-text.ts";
import { SseScanner, type EventSink } from "./sse-scanner.ts";

const CLOSE_BRACE = 0x7d;

/**
 * Reads the events of a stream that its format selects, and passes them to a collector. Others are skipped unread when their
 * line is complete in a chunk, as nearly always: that takes a tenth of the time, and allocates nothing.
 */
export class EventScanner implements EventSink {
  readonly isOpen = false;
  readonly #format: TypedFormat;
  readonly #collector: UsageCollector;
  readonly #json: JsonScanner;
  readonly #opening = new EventOpening();
  readonly #sse = new SseScanner(this);
  readonly #text = new StreamedText();
  #hasContent = false;
  #isReadable = true;

  constructor(format: TypedFormat, collector: UsageCollector) {
    this.#format = format;
    this.#collector = collector;
    this.#json = new JsonScanner(format.event, this.#text);
  }

  feed(chunk: Buffer): void {
    this.#sse.feed(chunk);
  }

  /** True once an event with model output has been seen. */
  get hasContent(): boolean {
    return this.#hasContent;
  }

  get streamedTokens(): number {
    return this.#text.tokens;
  }

  /** Ends the stream. Returns false when a selected event, or the interrupted last one, was not valid JSON. */
  finish(): boolean {
    this.#sse.finish();
    return this.#isReadable;
  }

  canSkip(bytes: Buffer, from: number, to: number): boolean {
    if (bytes[to - 1] !== CLOSE_BRACE) return false;
    const start = findTypeStart(bytes, from, to);
    if (start === -1) return false;
    const end = findTypeEnd(bytes, start, to);
    if (end === -1 || this.#isWanted(bytes, start, end)) return false;
    this.#hasContent ||= this.#format.isContent(bytes.toString("latin1", start, end));
    addMembers(this.#text, bytes, from, to, this.#format.texts);
    return true;
  }

  addData(part: Buffer): void {
    this.#opening.add(part);
    this.#json.feed(part);
  }

  endEvent(name: string | null, isEnded: boolean): void {
    const opened = this.#opening.type;
    if (opened !== null && !this.#format.eventTypes.includes(opened)) this.#skipEvent(opened, isEnded);
    else this.#readEvent(name, isEnded);
    this.#json.reset();
    this.#opening.reset();
  }

  /** Does the same as {@link EventScanner.canSkip} for an event whose line came in several chunks, or is incomplete. */
  #skipEvent(type: string, isEnded: boolean): void {
    this.#hasContent ||= this.#format.isContent(type);
    this.#isReadable &&= isEnded || this.#json.isComplete || this.#opening.lastByte === CLOSE_BRACE;
  }

  #readEvent(name: string | null, isEnded: boolean): void {
    const { fields, isComplete } = this.#json;
    // Some gateways send errors as `{"error":{...}}` without a type.
    const type = asText(fields["type"]) ?? name ?? (isObject(fields["error"]) ? "error" : null);
    const isWanted = type === null || this.#format.eventTypes.includes(type);
    if (!isComplete) this.#isReadable &&= isEnded && !isWanted;
    else if (type !== null && isWanted) this.#collector.addEvent(type, fields);
    else if (type !== null) this.#hasContent ||= this.#format.isContent(type);
  }

  #isWanted(bytes: Buffer, start: number, end: number): boolean {
    for (const type of this.#format.eventTypes) {
      if (type.length === end - start && hasTextAt(bytes, start, end, type)) return true;
    }
    return false;
  }
}
