import { isSpace } from "../usage/bytes.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The member that marks where a prefix for the cache ends, and which moves from request to request (Messages API). */
const MARK = Buffer.from("cache_control");
/** The lifetime of a mark other than 5 minutes. */
const ONE_HOUR = Buffer.from('"1h"');

/** How prompts are hashed. */
export interface Hashing {
  /** A random number of 32 bits, the same for all that is compared. */
  readonly key: number;
  /** The CRC-32 of bytes, going on from that of the bytes before them. */
  checksum(bytes: Buffer, start: number): number;
}

/** A part of which it is not known whether it is like another. */
export const UNSURE = -1;

/** Lengths differ by less than this, or are told apart by the checksum. */
const LENGTHS = 2 ** 20;

/** The lifetimes of marks for the cache, as bits: 5 minutes, 1 hour, and where the mark stands in two chunks. */
export const MARK_5M = 1;
export const MARK_1H = 2;
const MARK_OF_UNKNOWN_LIFE = 4;

/**
 * Hashes one JSON value as its bytes pass, in any chunking, without keeping any of them. Members `cache_control` are left out with one of the
 * commas beside them, so that a value is the same with and without a mark. Equal values written alike have equal hashes; where a chunk ends
 * within the name of a mark, or beside one, the part is {@link UNSURE}. The hash is a checksum of 32 bits, keyed by its start, with the length:
 * it tells two prompts of one conversation apart, and is neither stored nor shown.
 *
 * Costs 0.15 ns a byte, 0.15 µs for each part, and 1.5 ns for each string.
 */
export class PartHasher {
  readonly #hashing: Hashing;
  #crc = 0;
  /** That before the present value. */
  #crcBefore = 0;
  #length = 0;
  #isPassedOver = false;
  #isUnsure = false;
  #kind: "string" | "nested" | "scalar" = "scalar";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** True until a byte after the first one was read. */
  #isFresh = true;
  /** The depth at which the mark stands whose value is passed over; -1 outside of one. */
  #markDepth = -1;
  /** True if no comma stands before the mark, so that the one after it is left out. */
  #isFirst = false;
  #marks = 0;

  constructor(hashing: Hashing) {
    this.#hashing = hashing;
  }

  /** Starts a hash. */
  reset(): void {
    this.#marks = 0;
    this.#crc = this.#hashing.key;
    this.#length = 0;
    this.#isUnsure = false;
  }

  /** Begins a value with its first byte, after those that the hash has already; returns false when no value can start with it. */
  begin(byte: number): boolean {
    this.#crcBefore = this.#crc;
    this.#crc = (Math.imul(this.#crc, 31) + byte) >>> 0;
    this.#isPassedOver = false;
    this.#depth = 1;
    this.#isInString = byte === QUOTE;
    this.#isEscaped = false;
    this.#isFresh = true;
    this.#markDepth = -1;
    if (byte === QUOTE) this.#kind = "string";
    else this.#kind = byte === OPEN_BRACE || byte === OPEN_BRACKET ? "nested" : "scalar";
    return this.#kind !== "scalar" || isScalarStart(byte);
  }

  /** Reads the value from `at`. Returns the offset after its end, or -1 when these bytes do not contain it. */
  read(bytes: Buffer, at: number): number {
    if (this.#kind === "nested") return this.#readNested(bytes, at);
    const end = this.#kind === "string" ? this.#skipString(bytes, at) : skipScalar(bytes, at);
    this.#add(bytes, at, end === -1 ? bytes.length : end);
    return end;
  }

  /** Leaves the present value, of which nothing has been read, out of the hash. */
  passOver(): void {
    this.#crc = this.#crcBefore;
    this.#isPassedOver = true;
  }

  /** From now on it is not known whether the hash is that of another. */
  markUnsure(): void {
    this.#isUnsure = true;
  }

  /** The lifetimes of all marks so far, as bits. */
  get marks(): number {
    return this.#marks;
  }

  /** The hash so far. */
  get hash(): number {
    return this.#isUnsure ? UNSURE : (this.#length % LENGTHS) * 2 ** 32 + this.#crc;
  }

  #add(bytes: Buffer, from: number, to: number): void {
    if (to <= from || this.#isPassedOver) return;
    this.#length += to - from;
    const isAll = from === 0 && to === bytes.length;
    this.#crc = this.#hashing.checksum(isAll ? bytes : bytes.subarray(from, to), this.#crc);
  }

  #readNested(bytes: Buffer, start: number): number {
    const { length } = bytes;
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    let from = start;
    let at = this.#isInString ? this.#skipString(bytes, start) : start;
    while (at !== -1 && at < length) {
      const byte = bytes[at++];
      if (byte === QUOTE) {
        const name = at;
        at = this.#skipString(bytes, at);
        if (at === -1) this.#endInName(bytes, name);
        else if (at - name === MARK.length + 1 && this.#markDepth === -1 && isMark(bytes, name)) {
          const value = this.#findMarked(bytes, at);
          if (value !== -1) {
            this.#add(bytes, from, this.#beforeMark(bytes, from, name - 1, isFresh && from === start));
            this.#markDepth = this.#depth;
            at = value;
          }
        }
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#depth === this.#markDepth) {
          this.#endMark(bytes, at);
          from = this.#isFirst ? this.#skipComma(bytes, at) : at;
          at = from;
        }
        if (this.#depth === 0) {
          this.#add(bytes, from, at);
          return at;
        }
      }
    }
    if (this.#markDepth === -1) this.#add(bytes, from, length);
    return -1;
  }

  /** A name that goes on in the next chunk may be that of a mark. */
  #endInName(bytes: Buffer, from: number): void {
    const length = bytes.length - from;
    if (length <= MARK.length && MARK.compare(bytes, from, bytes.length, 0, length) === 0)
      this.#isUnsure = true;
  }

  /** Returns where the value of a mark begins, after its name; -1 if it is none, or no object. */
  #findMarked(bytes: Buffer, end: number): number {
    const colon = skipSpace(bytes, end);
    const value = skipSpace(bytes, colon + 1);
    if (value >= bytes.length) {
      this.#isUnsure = true;
      return -1;
    }
    if (bytes[colon] !== COLON) return -1;
    if (bytes[value] === OPEN_BRACE) return value;
    this.#isUnsure = true;
    return -1;
  }

  /**
   * Returns where the comma before a mark stands, whose name begins at `quote`; the end of what is before it where there is none.
   * @param isBegin true if only the bracket of the whole value is before `from`
   */
  #beforeMark(bytes: Buffer, from: number, quote: number, isBegin: boolean): number {
    let cut = quote;
    while (cut > from && isSpace(bytes[cut - 1] ?? 0)) cut--;
    this.#isFirst = cut === from || bytes[cut - 1] !== COMMA;
    // What is before it is in the last chunk, or is a mark.
    if (cut === from && !isBegin) this.#isUnsure = true;
    return this.#isFirst ? cut : cut - 1;
  }

  #endMark(bytes: Buffer, end: number): void {
    this.#markDepth = -1;
    const value = bytes.lastIndexOf(OPEN_BRACE, end - 1);
    if (value === -1) this.#marks |= MARK_OF_UNKNOWN_LIFE;
    else this.#marks |= bytes.subarray(value, end).includes(ONE_HOUR) ? MARK_1H : MARK_5M;
  }

  #skipComma(bytes: Buffer, end: number): number {
    const at = skipSpace(bytes, end);
    if (at >= bytes.length) this.#isUnsure = true;
    return bytes[at] === COMMA ? skipSpace(bytes, at + 1) : end;
  }

  /** As `JsonSkipper` does. */
  #skipString(bytes: Buffer, start: number): number {
    for (let at = start; ;) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote === -1 ? bytes.length : quote;
      let slash = end;
      while (slash > at && bytes[slash - 1] === BACKSLASH) slash--;
      const isOdd = (end - slash) % 2 === 1;
      const isEscaped = slash === at && this.#isEscaped ? !isOdd : isOdd;
      this.#isEscaped = quote === -1 && isEscaped;
      this.#isInString = quote === -1 || isEscaped;
      if (!this.#isInString) return quote + 1;
      if (quote === -1) return -1;
      at = quote + 1;
    }
  }
}

function isMark(bytes: Buffer, at: number): boolean {
  for (let i = 0; i < MARK.length; i++) if (bytes[at + i] !== MARK[i]) return false;
  return true;
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && isSpace(bytes[at] ?? 0)) at++;
  return at;
}

function isScalarStart(byte: number): boolean {
  return byte === 0x2d || (byte >= 0x30 && byte <= 0x39) || byte === 0x74 || byte === 0x66 || byte === 0x6e;
}

function skipScalar(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte)) return at;
  }
  return -1;
}
