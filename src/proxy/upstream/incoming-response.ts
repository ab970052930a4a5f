import type { ResponseHead } from "../../core/http/response-head.ts";

/** From this many unread bytes on, nothing more is read from the connection. */
const MOST_UNREAD_BYTES = 64 * 1024;

/** The reading of the connection that a response comes on. After `pause`, Node may still take one read from the system. */
interface Reading {
  pause(): void;
  resume(): void;
}

/** The response to an upstream request: its head, and the body as it arrives. */
export class IncomingResponse {
  readonly head: ResponseHead;
  /** True when the body has arrived to its last byte, read or not. */
  isComplete = false;
  /** True when the connection has broken before that. */
  isBroken = false;
  /** Called when there is something to read, or the response has become complete. */
  onReadable: () => void = ignore;
  readonly #reading: Reading;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isPaused = false;

  constructor(head: ResponseHead, reading: Reading) {
    this.head = head;
    this.#reading = reading;
  }

  /** Bytes of the body that have arrived and were not read yet. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** Takes everything that has arrived since the last call; null when that is nothing. Ends a {@link pause}. */
  read(): Buffer | null {
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#reading.resume();
    }
    const [first] = this.#unread;
    if (first === undefined) return null;
    const bytes = this.#unread.length === 1 ? first : Buffer.concat(this.#unread, this.#unreadBytes);
    this.#unread = [];
    this.#unreadBytes = 0;
    return bytes;
  }

  /** Reads nothing more from the connection until the next {@link read}. */
  pause(): void {
    if (this.#isPaused || this.isComplete || this.isBroken) return;
    this.#isPaused = true;
    this.#reading.pause();
  }

  /** Adds what has arrived. */
  push(bytes: Buffer): void {
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
  }

  /** Lets the reader take everything that was pushed. */
  announce(): void {
    this.onReadable();
    if (this.#unreadBytes >= MOST_UNREAD_BYTES) this.pause();
  }
}

function ignore(): void {}
