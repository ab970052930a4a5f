import { randomBytes } from "node:crypto";
import { inflateRawSync } from "node:zlib";

/** The bytes that each peer leaves off the end of a message: an empty block (RFC 7692 section 7.2.1). */
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);

/** Unknown to all peers, and so in no message. */
const PROBE = randomBytes(16);

/** The head of a last block that holds its bytes as they are (RFC 1951 section 3.2.4). */
const LAST_BLOCK = Buffer.from([1, PROBE.length, 0, ~PROBE.length & 0xff, 0xff]);

/**
 * Follows a message. Only if that ends between two blocks is this block read as one, and comes out as {@link PROBE}. A message that ends
 * within a block would have the next one begin there: readers that keep their state would then read other bytes than those that do not.
 */
const ENDING = Buffer.concat([TAIL, LAST_BLOCK, PROBE]);

/** What a message may refer to of those before it (RFC 1951 section 2). */
const WINDOW_BYTES = 32 * 1024;

/** Output is collected in pieces of this size. Most events fit a small one, which is cheaper. */
const SMALL = { mostInput: 512, pieceBytes: 4 * 1024 };
const LARGE_PIECE_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

/**
 * Inflates the messages of one peer (`permessage-deflate`, RFC 7692), each whole and in their order. Between two it keeps nothing but the
 * window, of at most 32 KiB: a compressor of zlib for each WebSocket would hold more, and would be read in another turn of the event loop.
 */
export class Inflater {
  readonly #takesOver: boolean;
  #window = NOTHING;

  /** `takesOver`: messages may refer to those before them. */
  constructor(takesOver: boolean) {
    this.#takesOver = takesOver;
  }

  /**
   * Returns the payload of a compressed message, of at most so many bytes. `invalid` for one that different readers could read differently.
   * After any other result than a payload, later messages cannot be read.
   */
  inflate(payload: readonly Buffer[], mostBytes: number): Buffer | "too long" | "invalid" {
    const input = Buffer.concat([...payload, ENDING]);
    const inflated = inflateAll(input, this.#window, mostBytes + PROBE.length);
    if (!Buffer.isBuffer(inflated)) return inflated;
    const end = inflated.length - PROBE.length;
    if (end < 0 || !inflated.subarray(end).equals(PROBE)) return "invalid";
    const content = inflated.subarray(0, end);
    // The message ends within a block that holds bytes as they are, and has taken ours for its own.
    if (content.subarray(-LAST_BLOCK.length).equals(LAST_BLOCK)) return "invalid";
    if (this.#takesOver) this.#remember(content);
    return content;
  }

  #remember(content: Buffer): void {
    const kept = this.#window.subarray(Math.max(0, this.#window.length + content.length - WINDOW_BYTES));
    this.#window =
      content.length >= WINDOW_BYTES
        ? Buffer.from(content.subarray(-WINDOW_BYTES))
        : Buffer.concat([kept, content]);
  }
}

/** Inflates what has to end in a last block. */
function inflateAll(input: Buffer, window: Buffer, mostBytes: number): Buffer | "too long" | "invalid" {
  const chunkSize = input.length <= SMALL.mostInput ? SMALL.pieceBytes : LARGE_PIECE_BYTES;
  const dictionary = window.length > 0 ? { dictionary: window } : null;
  try {
    return inflateRawSync(input, { maxOutputLength: mostBytes, chunkSize, ...dictionary });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ERR_BUFFER_TOO_LARGE" ? "too long" : "invalid";
  }
}
