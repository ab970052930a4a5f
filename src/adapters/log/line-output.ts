/** Takes bytes, and returns how many of them; throws when it takes none. */
export type Write = (bytes: Buffer) => number;

/**
 * Writes lines, each at once: one that is logged right before an exit must not be lost. A line that is not taken, by a
 * full disk or by a pipe that nobody empties, is dropped and counted. It ends nothing and holds nobody up (facts/
 * threats.md E2).
 */
export class LineOutput {
  readonly #write: Write;
  readonly #onResumed: (dropped: number) => void;
  /** What is still to come of a line that was taken in part; it goes first, so that the next one starts a line. */
  #rest: Buffer = Buffer.alloc(0);
  #dropped = 0;
  #told = 0;

  /** `onResumed` is called when a line is taken after some were not, with how many were dropped since the start. */
  constructor(write: Write, onResumed: (dropped: number) => void) {
    this.#write = write;
    this.#onResumed = onResumed;
  }

  /** Writes a line, which comes without its newline. Never throws. */
  write(line: string): void {
    if (!this.#put(Buffer.from(`${line}\n`))) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped === this.#told) return;
    this.#told = this.#dropped;
    this.#onResumed(this.#dropped);
  }

  #put(line: Buffer): boolean {
    try {
      if (this.#rest.length > 0) this.#send(this.#rest);
      if (this.#rest.length > 0) return false;
      this.#send(line);
      return true;
    } catch {
      return false;
    }
  }

  #send(bytes: Buffer): void {
    this.#rest = bytes.subarray(this.#write(bytes));
  }
}
