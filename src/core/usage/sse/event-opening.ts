import { hasTextAt } from "../bytes.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const LF = 0x0a;
const TYPE_MEMBER = '{"type":';
/** No service has longer types. The JSON scanner would read them. */
const MAX_TYPE_LENGTH = 64;

/**
 * Finds the type that an event's data, `bytes[from, to)`, starts with, as in `{"type":"ping"`. Nearly all events do. Returns
 * the offset of its text, or -1. Only the first 75 bytes matter, so the rest may be missing.
 */
export function findTypeStart(bytes: Buffer, from: number, to: number): number {
  if (!hasTextAt(bytes, from, to, TYPE_MEMBER)) return -1;
  const afterColon = from + TYPE_MEMBER.length;
  const quote = bytes[afterColon] === SPACE ? afterColon + 1 : afterColon;
  return quote < to && bytes[quote] === QUOTE ? quote + 1 : -1;
}

/** Returns the end of the type that starts at `start`; -1 when it is incomplete, too long, or has an escape. */
export function findTypeEnd(bytes: Buffer, start: number, to: number): number {
  const last = Math.min(to, start + MAX_TYPE_LENGTH + 1);
  for (let end = start; end < last; end++) {
    if (bytes[end] === QUOTE) return end;
    if (bytes[end] === BACKSLASH) return -1;
  }
  return -1;
}

/** Tracks how the data of an event starts that arrives in parts. The first part is long enough to contain the type. */
export class EventOpening {
  /** The type that the data starts with; null when there is none. */
  type: string | null = null;
  /** The last byte so far of the first line; 0 when there is none. */
  lastByte = 0;
  #position: "start" | "first line" | "later lines" = "start";

  /** Takes the next part of the data. Between lines there is a part of one LF; no other part contains one. */
  add(part: Buffer): void {
    if (part[0] === LF) this.#position = "later lines";
    if (this.#position === "later lines") return;
    if (this.#position === "start") this.type = openingType(part);
    this.#position = "first line";
    this.lastByte = part.at(-1) ?? 0;
  }

  /** Prepares for the next event. */
  reset(): void {
    this.type = null;
    this.lastByte = 0;
    this.#position = "start";
  }
}

function openingType(data: Buffer): string | null {
  const start = findTypeStart(data, 0, data.length);
  const end = start === -1 ? -1 : findTypeEnd(data, start, data.length);
  return end === -1 ? null : data.toString("latin1", start, end);
}
