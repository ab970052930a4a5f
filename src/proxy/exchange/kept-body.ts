import type { SharedBuffer } from "./shared-buffer.ts";

/**
 * A copy of a request body as it was sent, so that it can be sent again to another upstream. It is given up when it becomes longer
 * than the shared buffer allows; the request is then sent once, like any other.
 */
export class KeptBody {
  readonly #buffer: SharedBuffer;
  /** null once it has been given up or dropped. */
  #chunks: Buffer[] | null = [];
  #bytes = 0;
  #isWhole = false;
  #onDecided: ((body: Buffer | null) => void) | null = null;

  constructor(buffer: SharedBuffer) {
    this.#buffer = buffer;
  }

  /** False once it has been given up. */
  get isKept(): boolean {
    return this.#chunks !== null;
  }

  /** Adds what was sent. */
  keep(chunk: Buffer): void {
    if (this.#chunks === null) return;
    if (!this.#buffer.mayKeep(this.#bytes, chunk.length)) {
      this.drop();
      return;
    }
    this.#chunks.push(chunk);
    this.#buffer.resize(this.#bytes, this.#bytes + chunk.length);
    this.#bytes += chunk.length;
  }

  /** Notes that nothing more follows. */
  complete(): void {
    this.#isWhole = true;
    this.#decide();
  }

  /** Resolves with the whole body once it has arrived; with null when it was given up. */
  whole(): Promise<Buffer | null> {
    return new Promise((resolve) => {
      this.#onDecided = resolve;
      this.#decide();
    });
  }

  /** Frees the memory. */
  drop(): void {
    this.#buffer.resize(this.#bytes, 0);
    this.#bytes = 0;
    this.#chunks = null;
    this.#decide();
  }

  #decide(): void {
    if (this.#chunks === null) this.#onDecided?.(null);
    else if (this.#isWhole) this.#onDecided?.(Buffer.concat(this.#chunks));
  }
}
