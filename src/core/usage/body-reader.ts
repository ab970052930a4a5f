import type { JsonObject } from "../json.ts";
import { isTyped, type UsageCollector, type UsageFormat } from "./usage-format.ts";
import { FrameScanner } from "./bedrock/frame-scanner.ts";
import { ChunkScanner, type ChunkType } from "./sse/chunk-scanner.ts";
import { EventScanner } from "./sse/event-scanner.ts";
import { isSpace } from "./bytes.ts";
import { JsonScanner } from "./json/json-scanner.ts";
import { StreamedText } from "./streamed-text.ts";

/** Reads a body in one of its forms. */
interface BodyScanner {
  feed(chunk: Buffer): void;
  readonly hasContent: boolean;
  /** An estimate of the tokens of the text that a stream has brought; null for a JSON document. */
  readonly streamedTokens: number | null;
  /** True for a JSON document that has begun, can become valid and is not complete. */
  readonly isOpen: boolean;
  /** Ends the body. Returns false when a part that matters was not valid JSON. */
  finish(): boolean;
}

/**
 * `list` is a stream, too: an array of what would be the events. So is `frames`, the binary one of AWS. `lines` are JSON documents, one a
 * line.
 */
type Form = "events" | "json" | "list" | "lines" | "frames";

const NEWLINE = 0x0a;

const EVENT_STREAM = /^\s*text\/event-stream/i;
const FRAMES = /^\s*application\/vnd\.amazon\.eventstream/i;
/** The first byte of a frame's length, which is less than 16 MiB. No text begins like one. */
const FRAME_START = "\0";
/** How the lines of an event stream begin, a comment first. No JSON value begins like one. */
const LINE_STARTS = [":", "data:", "event:", "id:", "retry:"];
/** UTF-8's byte order mark, as Latin-1. */
const BOM = "\u00ef\u00bb\u00bf";

/**
 * Reads a body and passes what its format selects to a collector: the events of a stream, the elements of a list, or one JSON document.
 * The first bytes after
 * white space decide which, because some gateways send one under the content type of the other (docs/wire.md section 9). Where they
 * decide nothing, the content type does; without one the body is a stream.
 */
export class BodyReader implements BodyScanner {
  readonly #labelled: Form;
  readonly #format: UsageFormat;
  readonly #collector: UsageCollector;
  /** null until the form is known. */
  #scanner: BodyScanner | null = null;
  /** What the first bytes have told; null while, or if, they tell nothing. */
  #told: Form | null = null;
  readonly #isLabelledStream: boolean;
  /** The first bytes while they decide nothing, as Latin-1: at most as many as the longest of {@link LINE_STARTS} has. */
  #opening = "";

  constructor(contentType: string | null, format: UsageFormat, collector: UsageCollector) {
    this.#isLabelledStream =
      contentType !== null && (EVENT_STREAM.test(contentType) || FRAMES.test(contentType));
    this.#labelled = format.hasLines ? "lines" : formOf(contentType, format);
    this.#format = format;
    this.#collector = collector;
  }

  get hasContent(): boolean {
    return this.#scanner?.hasContent ?? false;
  }

  get streamedTokens(): number | null {
    return this.#scanner?.streamedTokens ?? null;
  }

  /** True, too, while nothing but white space has come. */
  get isOpen(): boolean {
    return this.#scanner?.isOpen ?? true;
  }

  /** True for an event stream or a list: by the first bytes if they tell, else by the content type. A body without type is none. */
  get isStream(): boolean {
    if (this.#format.hasLines) return false;
    return this.#told === null ? this.#isLabelledStream : this.#told !== "json";
  }

  feed(chunk: Buffer): void {
    if (this.#scanner === null) this.#begin(chunk);
    else this.#scanner.feed(chunk);
  }

  finish(): boolean {
    if (this.#scanner === null && this.#opening !== "") this.#open(this.#labelled);
    return this.#scanner?.finish() ?? true;
  }

  /** Chooses the scanner if there is enough to decide, and passes on what has come. */
  #begin(chunk: Buffer): void {
    let start = 0;
    if (this.#opening === "") while (isSpace(chunk[start] ?? 0)) start++;
    for (let at = start; at < chunk.length; at++) {
      this.#opening += String.fromCharCode(chunk[at] ?? 0);
      this.#told = this.#format.hasLines ? "lines" : tell(this.#opening, this.#format);
      if (this.#told === null && mayTell(this.#opening)) continue;
      this.#open(this.#told ?? this.#labelled);
      if (at + 1 < chunk.length) this.#scanner?.feed(chunk.subarray(at + 1));
      return;
    }
  }

  #open(form: Form): void {
    this.#scanner = createScanner(form, this.#format, this.#collector);
    this.#scanner.feed(Buffer.from(withoutBom(this.#opening), "latin1"));
  }
}

/** Returns the form that a content type says. */
function formOf(contentType: string | null, { hasFrames }: UsageFormat): Form {
  if (contentType === null || EVENT_STREAM.test(contentType)) return "events";
  return hasFrames === true && FRAMES.test(contentType) ? "frames" : "json";
}

/** Returns the form of a body that begins like this; null if that tells nothing. */
function tell(opening: string, { hasLists, hasFrames }: UsageFormat): Form | null {
  const start = withoutBom(opening);
  if (hasFrames === true && start.startsWith(FRAME_START)) return "frames";
  if (start.startsWith("{")) return "json";
  if (start.startsWith("[")) return hasLists ? "list" : "json";
  return LINE_STARTS.some((line) => start.startsWith(line)) ? "events" : null;
}

/** True while more bytes may tell. */
function mayTell(opening: string): boolean {
  return BOM.startsWith(opening) || LINE_STARTS.some((line) => line.startsWith(withoutBom(opening)));
}

function withoutBom(opening: string): string {
  return opening.startsWith(BOM) ? opening.slice(BOM.length) : opening;
}

function createScanner(form: Form, format: UsageFormat, collector: UsageCollector): BodyScanner {
  if (form === "json") return new JsonBodyScanner(format, collector);
  if (form === "list") return new ListScanner(format, collector);
  if (form === "lines") return new LineScanner(format, collector);
  if (form === "frames") return new FrameScanner(format, collector);
  return isTyped(format) ? new EventScanner(format, collector) : new ChunkScanner(format, collector);
}

/** Reads one JSON document. An incomplete one adds nothing. */
class JsonBodyScanner implements BodyScanner {
  readonly hasContent = false;
  readonly streamedTokens = null;
  readonly #json: JsonScanner;
  readonly #collector: UsageCollector;

  constructor(format: UsageFormat, collector: UsageCollector) {
    this.#json = new JsonScanner(format.body);
    this.#collector = collector;
  }

  get isOpen(): boolean {
    return !this.#json.isComplete && !this.#json.isBroken;
  }

  feed(chunk: Buffer): void {
    this.#json.feed(chunk);
  }

  finish(): boolean {
    if (this.#json.isComplete) this.#collector.addBody(this.#json.fields);
    return this.#json.isComplete;
  }
}

/** Reads an array, whose elements are a stream: each is added when it is complete, and none is kept. */
class ListScanner implements BodyScanner {
  readonly #text = new StreamedText();
  readonly #json: JsonScanner;
  readonly #collector: UsageCollector;

  constructor(format: UsageFormat, collector: UsageCollector) {
    this.#json = new JsonScanner(format.event, this.#text, (fields) => this.#add("chunk", fields));
    this.#collector = collector;
  }

  get hasContent(): boolean {
    return this.#collector.hasContent;
  }

  get streamedTokens(): number {
    return this.#text.tokens;
  }

  get isOpen(): boolean {
    return !this.#json.isComplete && !this.#json.isBroken;
  }

  feed(chunk: Buffer): void {
    this.#json.feed(chunk);
  }

  finish(): boolean {
    if (this.#json.isComplete) this.#add("done", {});
    return this.#json.isComplete;
  }

  #add(type: ChunkType, fields: JsonObject): void {
    this.#collector.addEvent(type, fields);
  }
}

/** Reads JSON documents, one a line. Each is added when its line has ended, and none is kept. */
class LineScanner implements BodyScanner {
  readonly hasContent = false;
  readonly streamedTokens = null;
  readonly #json: JsonScanner;
  readonly #collector: UsageCollector;
  #isBlank = true;
  #isReadable = true;

  constructor(format: UsageFormat, collector: UsageCollector) {
    this.#json = new JsonScanner(format.event);
    this.#collector = collector;
  }

  /** True within a line. Whether another one follows, only the framing says. */
  get isOpen(): boolean {
    return !this.#isBlank;
  }

  feed(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#take(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#take(chunk.subarray(from));
  }

  finish(): boolean {
    this.#endLine();
    return this.#isReadable;
  }

  #take(bytes: Buffer): void {
    this.#isBlank = this.#isBlank && bytes.every(isSpace);
    this.#json.feed(bytes);
  }

  #endLine(): void {
    if (this.#json.isComplete) this.#collector.addEvent("line", this.#json.fields);
    else if (!this.#isBlank) this.#isReadable = false;
    this.#json.reset();
    this.#isBlank = true;
  }
}
