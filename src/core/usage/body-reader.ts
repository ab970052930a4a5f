import { isTyped, type UsageCollector, type UsageFormat } from "./usage-format.ts";
import { ChunkScanner } from "./chat/chunk-scanner.ts";
import { EventScanner } from "./sse/event-scanner.ts";
import { isSpace } from "./bytes.ts";
import { JsonScanner } from "./json/json-scanner.ts";

/** Reads a body in one of the two content types. */
interface BodyScanner {
  feed(chunk: Buffer): void;
  readonly hasContent: boolean;
  /** True for a JSON document that has begun, can become valid and is not complete. */
  readonly isOpen: boolean;
  /** Ends the body. Returns false when a part that matters was not valid JSON. */
  finish(): boolean;
}

const EVENT_STREAM = /^\s*text\/event-stream/i;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/**
 * Reads a body and passes what its format selects to a collector: the events of a `text/event-stream`, else one JSON
 * document. Without a content type the first byte after white space decides: `{` and `[` start JSON.
 */
export class BodyReader implements BodyScanner {
  readonly #contentType: string | null;
  readonly #format: UsageFormat;
  readonly #collector: UsageCollector;
  /** null until the content type is known. */
  #scanner: BodyScanner | null = null;

  constructor(contentType: string | null, format: UsageFormat, collector: UsageCollector) {
    this.#contentType = contentType;
    this.#format = format;
    this.#collector = collector;
  }

  get hasContent(): boolean {
    return this.#scanner?.hasContent ?? false;
  }

  /** True, too, while nothing but white space has come. */
  get isOpen(): boolean {
    return this.#scanner?.isOpen ?? true;
  }

  feed(chunk: Buffer): void {
    const start = this.#scanner === null ? this.#begin(chunk) : 0;
    this.#scanner?.feed(start === 0 ? chunk : chunk.subarray(start));
  }

  finish(): boolean {
    return this.#scanner?.finish() ?? true;
  }

  /** Chooses the scanner if there is enough to decide. Returns the offset in the chunk where the body starts. */
  #begin(chunk: Buffer): number {
    if (this.#contentType !== null && EVENT_STREAM.test(this.#contentType)) {
      this.#scanner = createStreamScanner(this.#format, this.#collector);
      return 0;
    }
    let start = 0;
    while (isSpace(chunk[start] ?? 0)) start++;
    if (start === chunk.length) return 0;
    const isJson = chunk[start] === OPEN_BRACE || chunk[start] === OPEN_BRACKET;
    const isStream = this.#contentType === null && !isJson;
    this.#scanner = isStream
      ? createStreamScanner(this.#format, this.#collector)
      : new JsonBodyScanner(this.#format, this.#collector);
    return start;
  }
}

function createStreamScanner(format: UsageFormat, collector: UsageCollector): BodyScanner {
  return isTyped(format) ? new EventScanner(format, collector) : new ChunkScanner(format, collector);
}

/** Reads one JSON document. An incomplete one adds nothing. */
class JsonBodyScanner implements BodyScanner {
  readonly hasContent = false;
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
