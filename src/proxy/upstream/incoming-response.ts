import type { ResponseHead } from "../../core/http/response-head.ts";

/** From this many unread bytes on, nothing more is read from the connection. */
const MOST_UNREAD_BYTES = 64 * 1024;

/** The response to an upstream request: its head, and the body as it arrives. */
export class IncomingResponse {
  readonly head: ResponseHead;
  /** True when the body has arrived to its last byte, read or not. */
  isComplete = false;
  /** True when the connection has broken before that. */
  isBroken = false;
  /** Called when there is something to read, or the response has become complete. */
  onReadable: () => void = ignore;
  /** Called when the excess has been read. */
  readonly #resume: () => void;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isPaused = false;

  constructor(head: ResponseHead, resume: () => void) {
    this.head = head;
    this.#resume = resume;
  }

  /** Bytes of the body that have arrived and were not read yet. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** Takes everything that has arrived since the last call; null when that is nothing. */
  read(): Buffer | null {
    const [first] = this.#unread;
    if (first === undefined) return null;
    const bytes = this.#unread.length === 1 ? first : Buffer.concat(this.#unread, this.#unreadBytes);
    this.#unread = [];
    this.#unreadBytes = 0;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#resume();
    }
    return bytes;
  }

  /** Adds what has arrived. */
  push(bytes: Buffer): void {
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
  }

  /** Lets the reader take everything that was pushed. Returns whether so much is left that no more should be read from the connection. */
  announce(): boolean {
    this.onReadable();
    this.#isPaused = this.#unreadBytes >= MOST_UNREAD_BYTES && !this.isComplete;
    return this.#isPaused;
  }
}

function ignore(): void {}
