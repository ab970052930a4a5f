import { CHUNK_OVERHEAD_BYTES, type SharedBuffer } from "./shared-buffer.ts";

/** At most this much is written at a time, so that the progress of a slow reader is visible. */
export const WRITE_BYTES = 64 * 1024;

/** Where the bytes go: the response to the client, or the request to the upstream. */
interface Destination {
  /** Bytes that were written and that the system has not taken yet. */
  readonly writableLength: number;
  write(chunk: Buffer, onTaken: () => void): unknown;
  once(event: "close", listener: () => void): unknown;
}

/**
 * What waits for one reader. Its length is counted in the shared buffer until the reader has taken it or the destination has
 * closed. A chunk is written at once unless an earlier one is still waiting.
 */
export class SendQueue {
  readonly #destination: Destination;
  readonly #buffer: SharedBuffer;
  readonly #onProgress: () => void;
  #chunks: Buffer[] = [];
  /** Of `#chunks`, overhead included. */
  #waitingBytes = 0;
  #isWriting = false;
  #heldBytes = 0;
  #countedBytes = 0;
  #isWatching = false;
  #isClosed = false;

  /** `onProgress` is called each time the reader has taken something. */
  constructor(destination: Destination, buffer: SharedBuffer, onProgress: () => void) {
    this.#destination = destination;
    this.#buffer = buffer;
    this.#onProgress = onProgress;
  }

  /** False while the queue is full. Ask before writing more; after false, ask again when there is progress. */
  get hasRoom(): boolean {
    return this.#buffer.hasRoom(this.#countedBytes);
  }

  /** True when every chunk has been written to the destination. */
  get isFlushed(): boolean {
    return this.#chunks.length === 0;
  }

  /** Adds a chunk. */
  write(chunk: Buffer): void {
    if (this.#isClosed) return;
    if (this.#isWriting) {
      this.#chunks.push(chunk);
      this.#waitingBytes += chunk.length + CHUNK_OVERHEAD_BYTES;
    } else this.#send(chunk);
    this.count();
  }

  /** Sets how many bytes the caller holds back, in total. */
  hold(bytes: number): void {
    this.#heldBytes = bytes;
    this.count();
  }

  /** Writes all chunks to the destination, so that it can be ended. */
  flush(): void {
    if (this.#chunks.length > 0) this.#send(this.#take(Infinity));
  }

  /** Counts again, for a caller that has itself written to the destination. */
  count(): void {
    if (!this.#isClosed)
      this.#resize(this.#heldBytes + this.#waitingBytes + this.#destination.writableLength);
  }

  /** Drops the chunks that were not written. */
  close(): void {
    this.#chunks = [];
    this.#resize(0);
    this.#isClosed = true;
  }

  #resize(bytes: number): void {
    if (bytes > 0 && !this.#isWatching) {
      this.#isWatching = true;
      this.#destination.once("close", () => this.close());
    }
    this.#buffer.resize(this.#countedBytes, bytes);
    this.#countedBytes = bytes;
  }

  #send(chunk: Buffer): void {
    this.#isWriting = true;
    this.#destination.write(chunk, this.#onTaken);
  }

  readonly #onTaken = (): void => {
    if (this.#isClosed) return;
    this.#isWriting = false;
    if (this.#chunks.length > 0) this.#send(this.#take(WRITE_BYTES));
    this.count();
    this.#onProgress();
  };

  /** Takes chunks, joined, until they have at least this many bytes. */
  #take(bytes: number): Buffer {
    let [count, taken] = [0, 0];
    for (; count < this.#chunks.length && taken < bytes; count += 1)
      taken += this.#chunks[count]?.length ?? 0;
    this.#waitingBytes -= taken + count * CHUNK_OVERHEAD_BYTES;
    const chunks = this.#chunks.splice(0, count);
    return count === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, taken);
  }
}
