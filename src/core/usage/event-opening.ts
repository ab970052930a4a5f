import { hasTextAt } from "./has-text-at.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const LF = 0x0a;
const TYPE_MEMBER = Buffer.from('{"type":');
/** No service has a longer type; one that is longer is left to the JSON reader. */
const LONGEST_TYPE = 64;
/** With a space before the type, and the quotes around it. */
const OPENING_BYTES = TYPE_MEMBER.length + LONGEST_TYPE + 3;

/** Where the text of a type stands: `bytes[start, end)`. */
export interface TypeSpan {
  start: number;
  end: number;
}

/**
 * The type that an event's data opens with, `{"type":"ping"`, as nearly all do; null when it does not, or has an escape.
 * The first bytes alone decide, so that the rest need not be there.
 */
export function findOpeningType(bytes: Buffer, from: number, to: number): TypeSpan | null {
  if (!hasTextAt(bytes, from, to, TYPE_MEMBER)) return null;
  const afterColon = from + TYPE_MEMBER.length;
  const quote = bytes[afterColon] === SPACE ? afterColon + 1 : afterColon;
  if (quote >= to || bytes[quote] !== QUOTE) return null;
  const start = quote + 1;
  const last = Math.min(to, start + LONGEST_TYPE + 1);
  for (let end = start; end < last; end++) {
    if (bytes[end] === QUOTE) return { start, end };
    if (bytes[end] === BACKSLASH) return null;
  }
  return null;
}

/** How the data of an event opens that comes in parts: holds its first bytes, and the last one of its first line. */
export class EventOpening {
  readonly #bytes = Buffer.alloc(OPENING_BYTES);
  #length = 0;
  #lastByte = 0;
  #isInFirstLine = true;

  /** Takes the next part of the data. Lines come joined by parts of one LF; no other part has one. */
  add(part: Buffer): void {
    if (part[0] === LF) this.#isInFirstLine = false;
    if (!this.#isInFirstLine) return;
    this.#length += part.copy(this.#bytes, this.#length);
    this.#lastByte = part.at(-1) ?? this.#lastByte;
  }

  /** See {@link findOpeningType}. */
  get type(): string | null {
    const span = findOpeningType(this.#bytes, 0, this.#length);
    return span === null ? null : this.#bytes.toString("latin1", span.start, span.end);
  }

  /** The last byte of the first line so far; 0 when there is none. */
  get lastByte(): number {
    return this.#lastByte;
  }

  /** Forgets everything, ready for the next event. */
  reset(): void {
    this.#length = 0;
    this.#lastByte = 0;
    this.#isInFirstLine = true;
  }
}
