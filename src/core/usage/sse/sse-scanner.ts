import { copyBytes, hasTextAt } from "../bytes.ts";
import { BoundedText } from "../json/bounded-text.ts";

/** Receives each event as its lines arrive. Must not keep the bytes, which the caller owns. */
export interface EventSink {
  /** Returns true when the event that starts with this complete data line, `bytes[from, to)`, can be left unread. */
  canSkip(bytes: Buffer, from: number, to: number): boolean;
  /**
   * Receives the next part of the event's data, with a part of one LF between lines. The first part of a line is the whole line
   * or at least 1000 bytes, unless the stream ends there.
   */
  addData(part: Buffer): void;
  /** Ends the event. `name` is its `event` field. `isEnded` is true when a blank line ended it, not the end of the stream. */
  endEvent(name: string | null, isEnded: boolean): void;
}

type Field = "undecided" | "data" | "event" | "ignored" | "bare";

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;
const NEW_LINE = Buffer.from("\n");
/** UTF-8's byte order mark, as Latin-1. */
const BOM = "\u00ef\u00bb\u00bf";
const DATA = "data";
const EVENT = "event";
/** Not in the standard: old llama.cpp sends `error: {...}` instead of an event of that name (docs/wire.md section 7). */
const ERROR = "error";
const ERROR_NAME = Buffer.from(ERROR);
/** A line split between chunks is collected up to this size, to be handled whole: 0.4 µs per event in two chunks, not 2.9. */
const COLLECTED_BYTES = 1024;
const NAME_BYTES = 128;

/**
 * Splits a `text/event-stream` into events, in any chunking (WHATWG HTML, "interpreting an event stream"): lines end with LF,
 * CRLF or CR only, a byte order mark at the start is dropped, comments, `id`, `retry` and unknown fields are ignored. Unlike
 * in that standard, an event that the end of the stream interrupts is reported, too, and so is a field `error`; with `takesBareJson`
 * also a JSON object without a field, up to the next blank line or `data` field: Google's servers send errors so (docs/wire.md
 * section 10).
 *
 * Holds at most the first 1024 bytes of a line and 128 of an event's name. Costs 0.13 µs per event of 125 bytes, without the
 * sink's work, and allocates nothing for an event that is skipped.
 */
export class SseScanner {
  readonly #sink: EventSink;
  readonly #takesBareJson: boolean;
  readonly #name = new BoundedText();
  /** The start of a line that is split between chunks. Allocated when first needed. */
  #head: Buffer | null = null;
  #headLength = 0;
  #field: Field = "undecided";
  /** `bare`: an object without a field. */
  #event: "none" | "read" | "skipped" | "bare" = "none";
  #hasName = false;
  #isFirstLine = true;
  /** True when the last chunk ended with CR: an LF at the start of the next one belongs to that. */
  #isAfterCr = false;
  /** Offsets of the next LF and CR in the current chunk, so that neither is searched for twice. */
  #lf = -1;
  #cr = -1;

  constructor(sink: EventSink, takesBareJson = false) {
    this.#sink = sink;
    this.#takesBareJson = takesBareJson;
  }

  feed(chunk: Buffer): void {
    let at = this.#isAfterCr && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) this.#isAfterCr = false;
    this.#lf = -1;
    this.#cr = -1;
    while (at < chunk.length) at = this.#readLine(chunk, at);
  }

  /** Ends the stream, and with it an event that has begun. */
  finish(): void {
    if (this.#head !== null && this.#headLength > 0) this.#openLine(this.#head, 0, this.#headLength, false);
    this.#endEvent(false);
  }

  /** Reads a line, or as much of it as the chunk has. Returns the offset where the next one starts. */
  #readLine(chunk: Buffer, at: number): number {
    const end = this.#lineEnd(chunk, at);
    const isWhole = end < chunk.length;
    if (this.#field !== "undecided") this.#addValue(chunk, at, end);
    else if (this.#headLength === 0 && (isWhole || end - at >= COLLECTED_BYTES))
      this.#openLine(chunk, at, end, isWhole);
    else this.#collect(chunk, at, end, isWhole);
    if (!isWhole) return end;
    this.#field = "undecided";
    if (chunk[end] === LF) return end + 1;
    this.#isAfterCr = end + 1 === chunk.length;
    return chunk[end + 1] === LF ? end + 2 : end + 1;
  }

  #lineEnd(chunk: Buffer, at: number): number {
    if (chunk[at] === LF) return at;
    if (this.#lf < at) this.#lf = indexOrEnd(chunk, LF, at);
    if (this.#cr < at) this.#cr = indexOrEnd(chunk, CR, at);
    return Math.min(this.#lf, this.#cr);
  }

  /** Collects a line that is split between chunks until it is complete, or long enough. */
  #collect(chunk: Buffer, at: number, end: number, isWhole: boolean): void {
    const head = (this.#head ??= Buffer.alloc(COLLECTED_BYTES));
    const from = Math.min(end, at + COLLECTED_BYTES - this.#headLength);
    this.#headLength += copyBytes(chunk, at, from, head, this.#headLength);
    if (!isWhole && this.#headLength < COLLECTED_BYTES) return;
    const headLength = this.#headLength;
    this.#headLength = 0;
    this.#openLine(head, 0, headLength, isWhole && from === end);
    this.#addValue(chunk, from, end);
  }

  /** Starts a line, of which `bytes[at, end)` has arrived. `isWhole` is true when that is the whole line. */
  #openLine(bytes: Buffer, at: number, end: number, isWhole: boolean): void {
    const from = this.#isFirstLine && hasTextAt(bytes, at, end, BOM) ? at + BOM.length : at;
    this.#isFirstLine = false;
    if (isWhole && from === end) this.#endEvent(true);
    else if (isField(bytes, from, end, DATA))
      this.#openData(bytes, valueStart(bytes, from, end, DATA), end, isWhole);
    else if (isField(bytes, from, end, EVENT))
      this.#openName(bytes, valueStart(bytes, from, end, EVENT), end);
    else if (isField(bytes, from, end, ERROR))
      this.#openError(bytes, valueStart(bytes, from, end, ERROR), end);
    else if (this.#takesBareJson) this.#openBare(bytes, from, end);
    else this.#field = "ignored";
  }

  #openData(bytes: Buffer, from: number, end: number, isWhole: boolean): void {
    this.#field = "data";
    if (this.#event === "read") this.#sink.addData(NEW_LINE);
    else if (this.#event === "none") {
      this.#event = isWhole && this.#sink.canSkip(bytes, from, end) ? "skipped" : "read";
    } else if (this.#event === "bare") {
      this.#endEvent(true);
      return this.#openData(bytes, from, end, isWhole);
    }
    this.#addValue(bytes, from, end);
  }

  /** Begins an object without a field, or a further line of one, whatever that begins with. */
  #openBare(bytes: Buffer, from: number, end: number): void {
    if (this.#event === "bare") this.#sink.addData(NEW_LINE);
    else if (this.#event === "none" && bytes[from] === OPEN_BRACE) this.#event = "bare";
    this.#field = this.#event === "bare" ? "bare" : "ignored";
    this.#addValue(bytes, from, end);
  }

  #openName(bytes: Buffer, from: number, end: number): void {
    this.#field = "event";
    this.#hasName = true;
    this.#name.reset(NAME_BYTES);
    this.#addValue(bytes, from, end);
  }

  /** Reads the line as the data of an event that is called `error`. */
  #openError(bytes: Buffer, from: number, end: number): void {
    this.#openName(ERROR_NAME, 0, ERROR_NAME.length);
    if (this.#event === "none") this.#event = "read";
    this.#field = "data";
    this.#addValue(bytes, from, end);
  }

  #addValue(bytes: Buffer, from: number, end: number): void {
    if (from >= end) return;
    if (this.#field === "event") this.#name.add(bytes, from, end);
    else if (this.#field === "data" && this.#event === "read") this.#sink.addData(bytes.subarray(from, end));
    else if (this.#field === "bare") this.#sink.addData(bytes.subarray(from, end));
  }

  #endEvent(isEnded: boolean): void {
    if (this.#event === "read" || this.#event === "bare")
      this.#sink.endEvent(this.#hasName ? this.#name.text() : null, isEnded);
    this.#event = "none";
    this.#hasName = false;
  }
}

function indexOrEnd(chunk: Buffer, byte: number, at: number): number {
  const index = chunk.indexOf(byte, at);
  return index === -1 ? chunk.length : index;
}

/** True for a line of the field `name`: the name alone, or the name, a colon and a value. */
function isField(bytes: Buffer, at: number, end: number, name: string): boolean {
  if (!hasTextAt(bytes, at, end, name)) return false;
  return at + name.length === end || bytes[at + name.length] === COLON;
}

function valueStart(bytes: Buffer, at: number, end: number, name: string): number {
  const afterColon = Math.min(end, at + name.length + 1);
  return afterColon < end && bytes[afterColon] === SPACE ? afterColon + 1 : afterColon;
}
