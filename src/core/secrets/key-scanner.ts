import { EncodedDigits } from "./encoded-digits.ts";
import { BASE64, HEX, buildPatterns, type KeyPatterns } from "./key-patterns.ts";
import { SpellingTracker } from "./spelling-tracker.ts";

/** What is prepared once for a key. */
export interface ScannedKey {
  outside: KeyPatterns;
  /** For what base64 and hexadecimal digits stand for: one layer less. */
  inside: KeyPatterns;
}

/** Prepares the search for a key of printable ASCII. */
export function prepareKey(key: string): ScannedKey {
  return { outside: buildPatterns(key, 2), inside: buildPatterns(key, 1) };
}

const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/**
 * Finds a key in a stream of bytes, in whatever spelling decodes to it in at most two steps. Each step decodes base64, hexadecimal
 * digits, or the escapes of JSON, URLs and HTML, which a text may mix.
 */
export class KeyScanner {
  readonly #escaped: SpellingTracker;
  readonly #base64: EncodedDigits;
  readonly #hex: EncodedDigits;
  /** How many bytes were read. */
  #at = 0;
  /** The last escape of JSON. A range that is found never begins within one: what replaces it leaves valid JSON. */
  #escapeStart = 0;
  #escapeEnd = 0;

  /** `onFound` gets ranges of the stream, which may overlap. */
  constructor({ outside, inside }: ScannedKey, onFound: (start: number, end: number) => void) {
    this.#escaped = new SpellingTracker(outside, onFound);
    const base64 = { alphabet: BASE64, bits: 6, group: 4, minDigits: outside.minBase64, isSpaced: false };
    this.#base64 = new EncodedDigits(base64, inside, onFound);
    const hex = { alphabet: HEX, bits: 4, group: 2, minDigits: outside.minHex, isSpaced: true };
    this.#hex = new EncodedDigits(hex, inside, onFound);
  }

  /** A key that is not complete begins here or later. */
  get start(): number {
    const start = this.#at < this.#escapeEnd ? this.#escapeStart : this.#at;
    return Math.min(start, this.#escaped.start, this.#base64.start, this.#hex.start);
  }

  /** The measure of the work done besides reading each byte once. */
  get work(): number {
    return this.#escaped.work + this.#base64.work + this.#hex.work;
  }

  /** Reads `bytes` from the index `from` on. Before that it has the bytes from {@link KeyScanner.start} on. */
  read(bytes: Buffer, from: number): void {
    for (let i = from; i < bytes.length; i += 1) {
      const byte = bytes[i] ?? 0;
      const at = this.#at;
      this.#at += 1;
      if (at >= this.#escapeEnd) {
        if (byte === BACKSLASH) {
          this.#escapeStart = at;
          this.#escapeEnd = at + 2;
        }
      } else if (byte === LOWER_U && at === this.#escapeStart + 1) this.#escapeEnd = at + 5;
      const start = at < this.#escapeEnd ? this.#escapeStart : at;
      this.#escaped.read(byte, start, at + 1);
      this.#base64.read(byte, bytes, i, at, start);
      this.#hex.read(byte, bytes, i, at, start);
    }
  }

  /** The stream has ended. Another may follow. */
  end(): void {
    this.#at = 0;
    this.#escapeEnd = 0;
    this.#escaped.reset();
    this.#base64.end();
    this.#hex.end();
  }
}
