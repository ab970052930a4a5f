import { writeSync } from "node:fs";

/**
 * A file descriptor that lines are written to, each at once: one that is logged right before an exit must not be lost.
 * A line that is not taken, by a full disk or by a pipe that nobody empties, is dropped and counted. It ends nothing and
 * holds nobody up (facts/threats.md E2).
 */
export class LineOutput {
  readonly #fd: number;
  readonly #onResumed: (dropped: number) => void;
  /** What is still to come of a line that was taken in part; it goes first, so that the next one starts a line. */
  #rest: Buffer = Buffer.alloc(0);
  #dropped = 0;
  #told = 0;

  /** `onResumed` is called when a line is taken after some were not, with how many were dropped since the start. */
  constructor(fd: number, onResumed: (dropped: number) => void) {
    this.#fd = fd;
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
    this.#rest = bytes.subarray(writeSync(this.#fd, bytes));
  }
}
