import { CHUNK_OVERHEAD_BYTES, type SharedBuffer } from "./shared-buffer.ts";

/**
 * A copy of a request body as it was sent, so that it can be sent again to another upstream. It is given up when it becomes longer
 * than the shared buffer allows; the request is then sent once, like any other. Nothing else may hold the bytes, because
 * {@link KeptBody.drop} has to free them.
 */
export class KeptBody {
  readonly #buffer: SharedBuffer;
  /** null once it has been given up or dropped. */
  #chunks: Buffer[] | null = [];
  /** As counted in the shared buffer. */
  #bytes = 0;
  #isWhole = false;
  #onDecided: ((isWhole: boolean) => void) | null = null;

  constructor(buffer: SharedBuffer) {
    this.#buffer = buffer;
  }

  /** False once it has been given up. */
  get isKept(): boolean {
    return this.#chunks !== null;
  }

  /** The whole body; null before it has arrived, and once it has been given up or dropped. */
  get content(): Buffer | null {
    if (!this.#isWhole || this.#chunks === null) return null;
    const [first] = this.#chunks;
    if (this.#chunks.length === 1 && first !== undefined) return first;
    const content = Buffer.concat(this.#chunks);
    this.#chunks = [content];
    return content;
  }

  /** Adds what was sent. */
  keep(chunk: Buffer): void {
    if (this.#chunks === null) return;
    const bytes = chunk.length + CHUNK_OVERHEAD_BYTES;
    if (!this.#buffer.mayKeep(this.#bytes, bytes)) {
      this.drop();
      return;
    }
    this.#chunks.push(chunk);
    this.#buffer.resize(this.#bytes, this.#bytes + bytes);
    this.#bytes += bytes;
  }

  /** Notes that nothing more follows. */
  complete(): void {
    this.#isWhole = true;
    this.#decide();
  }

  /** Resolves with true once the whole body has arrived; with false when it was given up. */
  arrived(): Promise<boolean> {
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
    if (this.#chunks === null) this.#onDecided?.(false);
    else if (this.#isWhole) this.#onDecided?.(true);
  }
}
