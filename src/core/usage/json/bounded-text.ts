import { copyBytes } from "../bytes.ts";

const FIRST_CAPACITY = 256;
/** Shared, because creating a buffer takes 0.2 µs. Nothing is ever written to it. */
const EMPTY = Buffer.alloc(0);

/** Collects the bytes of a text up to a limit. Keeps copies, and never more than the largest limit it was reset to. */
export class BoundedText {
  #bytes = EMPTY;
  #length = 0;
  #limit = 0;
  #isTooLong = false;

  /** Starts a new text of at most `limit` bytes. */
  reset(limit: number): void {
    this.#length = 0;
    this.#limit = limit;
    this.#isTooLong = false;
  }

  /** True when nothing has been added since the reset. */
  get isEmpty(): boolean {
    return this.#length === 0 && !this.#isTooLong;
  }

  /** Adds `bytes[from, to)`. A text that exceeds the limit is lost. */
  add(bytes: Buffer, from: number, to: number): void {
    const length = this.#length + to - from;
    if (length > this.#limit) this.#isTooLong = true;
    if (this.#isTooLong) return;
    if (length > this.#bytes.length) this.#grow(length);
    copyBytes(bytes, from, to, this.#bytes, this.#length);
    this.#length = length;
  }

  /** Adds the last part, `bytes[from, to)`, and returns the text, decoded as UTF-8; null when it is longer than the limit. */
  finish(bytes: Buffer, from: number, to: number): string | null {
    if (this.isEmpty && to - from <= this.#limit) return bytes.toString("utf8", from, to);
    this.add(bytes, from, to);
    return this.text();
  }

  /** The text so far, decoded as UTF-8; null when it is longer than the limit. */
  text(): string | null {
    return this.#isTooLong ? null : this.#bytes.toString("utf8", 0, this.#length);
  }

  #grow(needed: number): void {
    const capacity = Math.max(needed, FIRST_CAPACITY, this.#bytes.length * 2);
    const grown = Buffer.alloc(Math.min(this.#limit, capacity));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
