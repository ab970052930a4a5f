/** Writes bytes and returns how many were written. Throws when none were. */
export type Write = (bytes: Buffer) => number;

/**
 * Writes each line synchronously, so that a line logged right before an exit is not lost. A line that cannot be written,
 * because the disk is full or the pipe is not read, is dropped and counted. It neither throws nor blocks (SECURITY.md E2).
 */
export class LineOutput {
  readonly #write: Write;
  readonly #onResumed: (dropped: number) => void;
  /** The unwritten end of a line that was written in part. It is written first, so that the next line starts a new one. */
  #rest: Buffer = Buffer.alloc(0);
  #dropped = 0;
  #reported = 0;

  /** `onResumed` is called after a line was written again, with the number of lines dropped since the start. */
  constructor(write: Write, onResumed: (dropped: number) => void) {
    this.#write = write;
    this.#onResumed = onResumed;
  }

  /** Writes a line; `line` has no newline. Never throws. */
  write(line: string): void {
    if (!this.#tryWrite(Buffer.from(`${line}\n`))) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped === this.#reported) return;
    this.#reported = this.#dropped;
    this.#onResumed(this.#dropped);
  }

  #tryWrite(line: Buffer): boolean {
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
