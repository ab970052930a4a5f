import type { SharedBuffer } from "../exchange/shared-buffer.ts";
import { Inflater } from "./inflater.ts";

/** The longest message that is read, by either of its lengths: it has to be read as a whole. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Collects the compressed messages of an upstream, each of which is read at its end. What has come of one counts in the buffer. */
export class CompressedEvents {
  readonly #buffer: SharedBuffer;
  readonly #inflater: Inflater;
  #collected: Buffer[] = [];
  #bytes = 0;
  #isLost = false;

  /** `takesOver`: messages may refer to those before them. */
  constructor(buffer: SharedBuffer, takesOver: boolean) {
    this.#buffer = buffer;
    this.#inflater = new Inflater(takesOver);
  }

  /** True once one could not be read. Those after it may refer to it, and are not read either. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Takes the next bytes of a message. */
  collect(bytes: Buffer): void {
    if (this.#isLost) return;
    this.#collected.push(bytes);
    this.#resize(this.#bytes + bytes.length);
    if (this.#bytes > MOST_BYTES || this.#buffer.isFull) this.close();
  }

  /** Ends the message, and returns its content. null if it cannot be read. */
  end(): Buffer | null {
    if (this.#isLost) return null;
    const inflated = this.#inflater.inflate(this.#collected.splice(0), MOST_BYTES);
    this.#resize(0);
    if (Buffer.isBuffer(inflated)) return inflated;
    this.close();
    return null;
  }

  /** Collects nothing more. */
  close(): void {
    this.#isLost = true;
    this.#collected = [];
    this.#resize(0);
  }

  #resize(bytes: number): void {
    this.#buffer.resize(this.#bytes, bytes);
    this.#bytes = bytes;
  }
}
