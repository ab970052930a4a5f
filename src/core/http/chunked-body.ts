import { InvalidResponse, isFramingName } from "./framing.ts";
import { hasStrayLineEnd, parseHeaderLines } from "./header-lines.ts";

/** Extensions of chunks and trailers may have this many bytes in all. Services send none; they are dropped. */
const MOST_EXTRA_BYTES = 16 * 1024;

/** A size with more digits would not be an exact number. */
const MOST_SIZE_DIGITS = 13;

const [LF, CR, SEMICOLON] = [10, 13, 59];

/** Extensions made of tokens. Quoted strings are refused: services send none, and parsers read them differently. */
const EXTENSIONS = /^(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=[!#$%&'*+\-.^_`|~0-9A-Za-z]+)?)*$/;

/** What the next byte belongs to. `-cr` and `-lf`: the line end behind it. `broken`: the body is malformed there. */
type Part = "size" | "extension" | "size-lf" | "data" | "data-cr" | "data-lf" | "trailers" | "end" | "broken";

/** Decodes a chunked body (RFC 9112 section 7.1), strictly. Extensions and trailers are dropped. */
export class ChunkedBody {
  /** The position after the body, in the bytes that contained its end; -1 before that. */
  end = -1;
  #part: Part = "size";
  /** Digits of the chunk's size so far. */
  #digits = 0;
  /** Bytes of the chunk that are still to come. */
  #left = 0;
  #extraBytes = 0;
  /** The chunk's extensions so far, with the leading semicolon. */
  #extensions = "";
  #trailers = "";
  /** So much of the trailers has been judged: whole lines, since the rest may never come. */
  #judged = 0;

  /** True when the body is malformed after what was returned last. */
  get isBroken(): boolean {
    return this.#part === "broken";
  }

  /**
   * Decodes the bytes from `start` on, in place: their content is moved together within `bytes`, and returned as a view of it. Must not
   * be called after the end, or once it is broken.
   */
  decode(bytes: Buffer, start: number): Buffer {
    let [at, first, last] = [start, start, start];
    while (at < bytes.length && this.end === -1 && !this.isBroken) {
      if (this.#part !== "data") {
        at = this.#readFraming(bytes, at);
        continue;
      }
      const length = Math.min(this.#left, bytes.length - at);
      // The content of a single chunk stays where it is.
      if (last === first) first = last = at;
      else bytes.copyWithin(last, at, at + length);
      last += length;
      at += length;
      this.#left -= length;
      if (this.#left === 0) this.#part = "data-cr";
    }
    return bytes.subarray(first, last);
  }

  /** Reads one byte or more between chunks; returns the position after it. */
  #readFraming(bytes: Buffer, at: number): number {
    if (this.#part === "trailers") return this.#readTrailers(bytes, at);
    this.#part = this.#readByte(bytes[at] ?? 0);
    return at + 1;
  }

  #readByte(byte: number): Part {
    switch (this.#part) {
      case "size":
        return this.#readSize(byte);
      case "extension":
        return this.#readExtension(byte);
      case "size-lf":
        this.#digits = 0;
        if (byte !== LF) return "broken";
        return this.#left === 0 ? "trailers" : "data";
      case "data-cr":
        return byte === CR ? "data-lf" : "broken";
      default:
        return byte === LF ? "size" : "broken";
    }
  }

  #readSize(byte: number): Part {
    const digit = hexDigit(byte);
    if (digit !== -1) {
      this.#digits += 1;
      this.#left = this.#left * 16 + digit;
      return this.#digits > MOST_SIZE_DIGITS ? "broken" : "size";
    }
    if (this.#digits === 0) return "broken";
    if (byte === CR) return "size-lf";
    return byte === SEMICOLON ? this.#readExtension(byte) : "broken";
  }

  #readExtension(byte: number): Part {
    if (byte === CR) {
      const isValid = EXTENSIONS.test(this.#extensions);
      this.#extensions = "";
      return isValid ? "size-lf" : "broken";
    }
    this.#extraBytes += 1;
    this.#extensions += String.fromCharCode(byte);
    return byte === LF || this.#extraBytes > MOST_EXTRA_BYTES ? "broken" : "extension";
  }

  #readTrailers(bytes: Buffer, at: number): number {
    const before = this.#trailers.length;
    const text = this.#trailers + bytes.toString("latin1", at, at + MOST_EXTRA_BYTES);
    const emptyLine = text.startsWith("\r\n") ? 0 : text.search(/(?<=\r\n)\r\n/);
    const isWhole = emptyLine !== -1;
    const read = (isWhole ? emptyLine + 2 : text.length) - before;
    this.#trailers = text;
    this.#extraBytes += read;
    const end = isWhole ? emptyLine : endOfLines(text, this.#judged);
    const isValid =
      areTrailers(text.slice(this.#judged, end)) && (isWhole || !hasStrayLineEnd(text.slice(end)));
    this.#judged = end;
    if (!isValid || this.#extraBytes > MOST_EXTRA_BYTES) this.#part = "broken";
    else if (isWhole) {
      this.#part = "end";
      this.end = at + read;
    }
    return at + read;
  }
}

/** Returns where the last whole line ends; `start` when no line from there on is whole. */
function endOfLines(text: string, start: number): number {
  const lastEnd = text.lastIndexOf("\r\n");
  return lastEnd < start ? start : lastEnd + 2;
}

/** Judges the lines of trailers, each with its line end. */
function areTrailers(lines: string): boolean {
  if (lines === "") return true;
  try {
    // They would change how to read what was already read (RFC 9110 section 6.5.1).
    return !parseHeaderLines(lines.slice(0, -2)).some((name, i) => i % 2 === 0 && isFramingName(name));
  } catch (error) {
    if (error instanceof InvalidResponse) return false;
    throw error;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
