/** The most that one queue may hold, however much is free. */
const MOST_BYTES = 256 * 1024;

/** The part of what is free that one queue may hold. A thousand stuck clients then leave a sixteenth of the buffer free. */
const SHARE = 1 / 64;

/** The part of what is free that the copy of one body may take (KeptBody): a few large requests, many of the usual 100 KB. */
const KEPT_SHARE = 1 / 8;

/** What a chunk costs besides its bytes (measured: 0.65 KB), so that many small ones do not exceed the limit. */
export const CHUNK_OVERHEAD_BYTES = 1024;

/** The most that one read of a socket returns, and so the most by which a queue grows at a time. */
export const READ_BYTES = 64 * 1024;

/**
 * The memory for bytes that wait for a reader: a stuck client, a stuck upstream, a request whose key is being read.
 * One limit over all of them, shared by the dynamic threshold of shared-memory switches (Choudhury and Hahne, "Dynamic Queue
 * Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking 6, 1998): a queue may grow up to
 * a fixed share of what is free. A few may be long, many are short, some of the buffer is always free for the next, and a
 * client that reads is never held up, because its queue is empty.
 *
 * Sockets are read in pieces of up to 64 KiB. An empty queue may always grow by one, so that the limit is exceeded where more clients
 * are stuck than it has room for pieces. The one that Node still reads of a response after its reading was paused is counted, too.
 */
export class SharedBuffer {
  #limitBytes: number;
  #usedBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The length of all queues together. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** True when everything together has reached the limit. */
  get isFull(): boolean {
    return this.#usedBytes >= this.#limitBytes;
  }

  /** True when half of it is used. A queue that is full then reads nothing ahead. */
  get isScarce(): boolean {
    return this.#usedBytes >= this.#limitBytes / 2;
  }

  /** Sets another limit. Queues that are longer than it allows only stop growing. */
  setLimit(bytes: number): void {
    this.#limitBytes = bytes;
  }

  /** Notes that a queue has become longer or shorter. */
  resize(before: number, after: number): void {
    this.#usedBytes += after - before;
  }

  /** Returns true when a queue of this length may grow by another read. An empty one always may. */
  hasRoom(bytes: number): boolean {
    if (bytes === 0) return true;
    return bytes <= MOST_BYTES && bytes + READ_BYTES <= (this.#limitBytes - this.#usedBytes) * SHARE;
  }

  /** Returns true when a copy, or what is read ahead, that has `bytes` may grow by `added`. */
  mayKeep(bytes: number, added: number): boolean {
    return bytes + added <= (this.#limitBytes - this.#usedBytes + bytes) * KEPT_SHARE;
  }
}
