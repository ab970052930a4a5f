import { NO_CHARACTER, SPACING, type KeyPatterns } from "./key-patterns.ts";
import { SpellingTracker } from "./spelling-tracker.ts";

/** Digits that stand for bytes: their values, how many bits each has, and how many of them stand for whole bytes. */
interface DigitForm {
  alphabet: Uint16Array;
  bits: number;
  group: number;
  /** The fewest that can stand for a key. */
  minDigits: number;
  /** True if blanks may be between any two digits, and not only in front of a line: a dump has them between bytes, prose between words. */
  isSpaced: boolean;
}

/**
 * Searches what runs of base64 or hexadecimal digits stand for. Where the encoded bytes begin within a run is unknown, so a run is
 * decoded from each place where they may: once for each digit of a group. Shorter runs than a key takes are only counted.
 */
export class EncodedDigits {
  readonly #form: DigitForm;
  readonly #alphabet: Uint16Array;
  readonly #patterns: KeyPatterns;
  readonly #onFound: (start: number, end: number) => void;
  /** One for each digit of a group; none before the first run that is long enough. */
  #trackers: SpellingTracker[] = [];
  /** Where the last digits begin, by their number modulo the group's length. */
  readonly #starts: number[] = [];
  /** The values of the last digits: a group and more. */
  #digits = 0;
  /** How many digits of the run were read; those of a run that is still short are read together. */
  #read = 0;
  #count = 0;
  #runStart = 0;
  /** Where the escape begins that the first digits belong to, or the run. */
  #head = 0;
  #end = 0;

  constructor(form: DigitForm, patterns: KeyPatterns, onFound: (start: number, end: number) => void) {
    this.#form = form;
    this.#alphabet = form.alphabet;
    this.#patterns = patterns;
    this.#onFound = onFound;
  }

  /** Where a key may have begun that is not complete. */
  get start(): number {
    if (this.#count === 0) return Infinity;
    if (this.#read === 0) return this.#head;
    let start = Infinity;
    for (let i = 1; i < this.#form.group; i += 1) start = Math.min(start, this.#startOf(this.#read - i));
    for (const tracker of this.#trackers) start = Math.min(start, tracker.start);
    return start;
  }

  get work(): number {
    return this.#trackers.reduce((sum, { work }) => sum + work, 0);
  }

  /**
   * Reads a byte: the one with this index, which is at `at` of the stream. `bytes` has all that {@link EncodedDigits.start} holds back.
   * `start` is where the escape begins that the byte belongs to, or the byte.
   */
  read(byte: number, bytes: Buffer, index: number, at: number, start: number): void {
    const digit = this.#alphabet[byte] ?? NO_CHARACTER;
    if (digit >= NO_CHARACTER) {
      if (this.#count > 0 && (digit === NO_CHARACTER || !this.#continues(digit, bytes[index - 1] ?? 0, at)))
        this.end();
      return;
    }
    if (this.#count === 0) {
      this.#runStart = at;
      this.#head = start;
    }
    this.#count += 1;
    if (this.#count < this.#form.minDigits) return;
    if (this.#read > 0) this.#readDigit(digit, at);
    else this.#readRun(bytes, index, at);
  }

  /**
   * True for what may be between two digits, where it follows this byte of the run: a blank in front of a line, or anywhere in a dump.
   * A run ends if it would have to be held back for too long.
   */
  #continues(digit: number, before: number, at: number): boolean {
    const isDigitBefore = (this.#form.alphabet[before] ?? NO_CHARACTER) < NO_CHARACTER;
    if (digit === SPACING && isDigitBefore && !this.#form.isSpaced) return false;
    return at - (this.#read === 0 ? this.#runStart : this.start) <= this.#patterns.maxLength;
  }

  /** Ends the run: its last group may be incomplete. */
  end(): void {
    for (let length = 2; length < this.#form.group && this.#read > 0; length += 1) {
      if (this.#trackerFor(this.#read - length)?.isIdle === false) this.#decode(length);
    }
    if (this.#read > 0) for (const tracker of this.#trackers) tracker.reset();
    this.#count = 0;
    this.#read = 0;
  }

  /** Reads the digits of a run that has become long enough. */
  #readRun(bytes: Buffer, index: number, at: number): void {
    while (this.#trackers.length < this.#form.group)
      this.#trackers.push(new SpellingTracker(this.#patterns, this.#onFound));
    for (let i = index - (at - this.#runStart); i <= index; i += 1) {
      const digit = this.#form.alphabet[bytes[i] ?? 0] ?? NO_CHARACTER;
      if (digit < NO_CHARACTER) this.#readDigit(digit, at - index + i);
    }
  }

  #readDigit(digit: number, at: number): void {
    const { bits, group } = this.#form;
    const isInEscape = this.#head < this.#runStart && at < this.#head + ESCAPE_LENGTH;
    this.#starts[this.#read % group] = isInEscape ? this.#head : at;
    this.#digits = (this.#digits << bits) | digit;
    this.#read += 1;
    this.#end = at + 1;
    if (this.#read >= group) this.#decode(group);
  }

  /** Searches what the last `length` digits stand for. */
  #decode(length: number): void {
    const first = this.#read - length;
    const tracker = this.#trackerFor(first);
    const start = this.#startOf(first);
    const bits = length * this.#form.bits;
    for (let shift = bits - 8; shift >= bits % 8; shift -= 8) {
      tracker?.read((this.#digits >> shift) & 0xff, start, this.#end);
    }
  }

  #trackerFor(digit: number): SpellingTracker | undefined {
    return this.#trackers[digit % this.#form.group];
  }

  #startOf(digit: number): number {
    return this.#starts[digit % this.#form.group] ?? Infinity;
  }
}

/** `\u002D`. */
const ESCAPE_LENGTH = 6;
