import { hasTextAt } from "../json/has-text-at.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const LF = 0x0a;
const TYPE_MEMBER = '{"type":';
/** No service has a longer type; one that is longer is left to the JSON reader. */
const LONGEST_TYPE = 64;

/**
 * Where the text of the type begins that an event's data, `bytes[from, to)`, opens with: `{"type":"ping"`, as nearly all
 * do. -1 when it does not. The first 75 bytes alone decide, so that the rest need not be there.
 */
export function findTypeStart(bytes: Buffer, from: number, to: number): number {
  if (!hasTextAt(bytes, from, to, TYPE_MEMBER)) return -1;
  const afterColon = from + TYPE_MEMBER.length;
  const quote = bytes[afterColon] === SPACE ? afterColon + 1 : afterColon;
  return quote < to && bytes[quote] === QUOTE ? quote + 1 : -1;
}

/** Where the text of a type that starts there ends; -1 when it does not, or has an escape. */
export function findTypeEnd(bytes: Buffer, start: number, to: number): number {
  const last = Math.min(to, start + LONGEST_TYPE + 1);
  for (let end = start; end < last; end++) {
    if (bytes[end] === QUOTE) return end;
    if (bytes[end] === BACKSLASH) return -1;
  }
  return -1;
}

/** How the data of an event opens that comes in parts; the first part is long enough to tell. */
export class EventOpening {
  #type: string | null = null;
  #lastByte = 0;
  #place: "start" | "first line" | "later lines" = "start";

  /** Takes the next part of the data. Lines come joined by parts of one LF; no other part has one. */
  add(part: Buffer): void {
    if (part[0] === LF) this.#place = "later lines";
    if (this.#place === "later lines") return;
    if (this.#place === "start") this.#type = openingType(part);
    this.#place = "first line";
    this.#lastByte = part.at(-1) ?? 0;
  }

  /** The type that the data opens with; null when it does not open with one. */
  get type(): string | null {
    return this.#type;
  }

  /** The last byte of the first line so far; 0 when there is none. */
  get lastByte(): number {
    return this.#lastByte;
  }

  /** Forgets everything, ready for the next event. */
  reset(): void {
    this.#type = null;
    this.#lastByte = 0;
    this.#place = "start";
  }
}

function openingType(data: Buffer): string | null {
  const start = findTypeStart(data, 0, data.length);
  const end = start === -1 ? -1 : findTypeEnd(data, start, data.length);
  return end === -1 ? null : data.toString("latin1", start, end);
}
