import { copyBytes } from "./copy-bytes.ts";

const FIRST_CAPACITY = 256;
/** Shared: nothing is ever written to it, and a buffer takes 0.2 µs to make. */
const NOTHING = Buffer.alloc(0);

/** Collects bytes as text up to a limit. Copies what it is given; holds at most the largest limit it was reset to. */
export class KeptBytes {
  #bytes = NOTHING;
  #length = 0;
  #limit = 0;
  #isOver = false;

  /** Starts anew, with room for `limit` bytes. */
  reset(limit: number): void {
    this.#length = 0;
    this.#limit = limit;
    this.#isOver = false;
  }

  /** Has nothing been added, or lost, since the start? */
  get isEmpty(): boolean {
    return this.#length === 0 && !this.#isOver;
  }

  /** Adds `bytes[from, to)`. Past the limit nothing is kept any more, and the text is lost. */
  add(bytes: Buffer, from: number, to: number): void {
    const length = this.#length + to - from;
    if (length > this.#limit) this.#isOver = true;
    if (this.#isOver) return;
    if (length > this.#bytes.length) this.#grow(length);
    copyBytes(bytes, from, to, this.#bytes, this.#length);
    this.#length = length;
  }

  /** The text that `bytes[from, to)` completes, read as UTF-8; null when it is longer than the limit. */
  finish(bytes: Buffer, from: number, to: number): string | null {
    if (this.isEmpty && to - from <= this.#limit) return bytes.toString("utf8", from, to);
    this.add(bytes, from, to);
    return this.text();
  }

  /** The text so far, read as UTF-8; null when it was longer than the limit. */
  text(): string | null {
    return this.#isOver ? null : this.#bytes.toString("utf8", 0, this.#length);
  }

  #grow(needed: number): void {
    const grown = Buffer.alloc(
      Math.min(this.#limit, Math.max(needed, FIRST_CAPACITY, this.#bytes.length * 2)),
    );
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
