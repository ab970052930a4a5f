/** Opcodes of RFC 6455 section 5.2. */
export const OPCODE = {
  continuation: 0x0,
  text: 0x1,
  binary: 0x2,
  close: 0x8,
  ping: 0x9,
  pong: 0xa,
} as const;

/** The longest payload of a control frame (RFC 6455 section 5.5). */
const MOST_CONTROL_BYTES = 125;
/** The head of a frame: two bytes, a length of eight, a mask of four. */
const MOST_HEAD_BYTES = 14;

const FINAL_BIT = 0x80;
const RESERVED_BITS = 0x70;
/** The reserved bit of a compressed message, in its first frame (RFC 7692 section 6). */
const COMPRESSED_BIT = 0x40;
const OPCODE_BITS = 0x0f;
const CONTROL_BIT = 0x08;
const MASK_BIT = 0x80;
const LENGTH_BITS = 0x7f;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const MASK_BYTES = 4;

/** One frame, as its head describes it. */
export interface Frame {
  opcode: number;
  /** True for the last frame of a message, and for every control frame. */
  isFinal: boolean;
  isControl: boolean;
  /** True for the first frame of a message that is compressed. */
  isCompressed: boolean;
  /** Bytes of its payload. The peer chose it: never allocate by it. */
  length: number;
}

/** What a reader finds, in order. */
interface FrameSink {
  /** The head of a frame has arrived. */
  onFrame(frame: Frame): void;
  /** The next bytes of its payload, never empty: part of the chunk, or without their mask a copy. May be kept. */
  onPayload(bytes: Buffer, frame: Frame): void;
  /** The frame has arrived to its last byte. `end` is the offset behind that in the chunk. */
  onFrameEnd(frame: Frame, end: number): void;
}

/**
 * Reads the frames that one peer of a WebSocket sends, in any chunking (RFC 6455 section 5). It is passive: it looks at bytes that
 * are relayed as they are. Fragments, control frames between them, masks and the three forms of a length are read; what the RFC forbids
 * is a {@link fault}, and nothing is read after one. So is a reserved bit, but for that of a compressed message. Lengths that are
 * longer than necessary are read, as `ws` does. Whether text is UTF-8, and which code a Close has, is the other peer's business.
 *
 * Keeps at most the 14 bytes of a head, whatever length it announces.
 */
export class FrameReader {
  readonly #sink: FrameSink;
  readonly #isMasked: boolean;
  readonly #mayCompress: boolean;
  readonly #head = Buffer.alloc(MOST_HEAD_BYTES);
  #headBytes = 0;
  /** null between frames. */
  #frame: Frame | null = null;
  /** Bytes of its payload that are still to come. */
  #left = 0;
  /** True from the first frame of a message that has several to the head of the last. */
  #isFragmented = false;
  #fault: string | null = null;

  /**
   * @param isMasked - the peer is a client, whose frames are masked; a server's never are (section 5.1)
   * @param mayCompress - compression was agreed on. The payload is read as it is.
   */
  constructor(isMasked: boolean, sink: FrameSink, mayCompress = false) {
    this.#isMasked = isMasked;
    this.#sink = sink;
    this.#mayCompress = mayCompress;
  }

  /** What the peer has done wrong; null while nothing. */
  get fault(): string | null {
    return this.#fault;
  }

  /** True between two messages, where another frame may stand: nothing of one has arrived. */
  get isBetweenMessages(): boolean {
    return this.#frame === null && this.#headBytes === 0 && !this.#isFragmented;
  }

  /** Takes the next bytes. */
  feed(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && this.#fault === null)
      at = this.#frame === null ? this.#readHead(chunk, at) : this.#readPayload(chunk, at, this.#frame);
  }

  #readHead(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length && this.#headBytes < this.#headLength)
      this.#head[this.#headBytes++] = chunk[at++] ?? 0;
    if (this.#headBytes >= 2) this.#fault = this.#judge();
    if (this.#fault === null && this.#headBytes === this.#headLength) this.#begin(at);
    return at;
  }

  /** How long the head is, as far as that is known. */
  get #headLength(): number {
    if (this.#headBytes < 2) return 2;
    const second = this.#head[1] ?? 0;
    const length = second & LENGTH_BITS;
    const lengthBytes = length === LENGTH_64 ? 8 : length === LENGTH_16 ? 2 : 0;
    return 2 + lengthBytes + (second >= MASK_BIT ? MASK_BYTES : 0);
  }

  /** Says what is wrong with the first two bytes of a head. */
  #judge(): string | null {
    const [first = 0, second = 0] = this.#head;
    const opcode = first & OPCODE_BITS;
    const reserved = first & RESERVED_BITS;
    const isFirst = opcode === OPCODE.text || opcode === OPCODE.binary;
    if (reserved !== 0 && !(reserved === COMPRESSED_BIT && isFirst && this.#mayCompress))
      return "a reserved bit is set";
    if (((second & MASK_BIT) !== 0) !== this.#isMasked)
      return this.#isMasked ? "a frame of a client has no mask" : "a frame of a server has a mask";
    if ((opcode & CONTROL_BIT) !== 0) {
      if (opcode > OPCODE.pong) return "the opcode is not known";
      if (first < FINAL_BIT) return "a control frame is fragmented";
      if ((second & LENGTH_BITS) > MOST_CONTROL_BYTES) return "a control frame is too long";
      const isHalfCode = opcode === OPCODE.close && (second & LENGTH_BITS) === 1;
      return isHalfCode ? "a Close has half a code" : null;
    }
    if (opcode > OPCODE.binary) return "the opcode is not known";
    if ((opcode === OPCODE.continuation) !== this.#isFragmented)
      return this.#isFragmented ? "a message begins within another" : "a message begins with a continuation";
    return null;
  }

  #begin(at: number): void {
    const [first = 0] = this.#head;
    const opcode = first & OPCODE_BITS;
    const isFinal = first >= FINAL_BIT;
    const isControl = (opcode & CONTROL_BIT) !== 0;
    const length = this.#readLength();
    if (length > Number.MAX_SAFE_INTEGER) {
      this.#fault = "a frame is too long";
      return;
    }
    if (!isControl) this.#isFragmented = !isFinal;
    const isCompressed = (first & COMPRESSED_BIT) !== 0;
    const frame = { opcode, isFinal, isControl, isCompressed, length };
    this.#left = length;
    this.#frame = frame;
    this.#sink.onFrame(frame);
    if (length === 0) this.#end(frame, at);
  }

  #readLength(): number {
    const length = (this.#head[1] ?? 0) & LENGTH_BITS;
    if (length === LENGTH_16) return this.#head.readUInt16BE(2);
    return length === LENGTH_64 ? Number(this.#head.readBigUInt64BE(2)) : length;
  }

  #readPayload(chunk: Buffer, from: number, frame: Frame): number {
    const to = Math.min(chunk.length, from + this.#left);
    const bytes = chunk.subarray(from, to);
    const payload = this.#isMasked ? this.#unmask(bytes, frame.length - this.#left) : bytes;
    this.#left -= bytes.length;
    this.#sink.onPayload(payload, frame);
    if (this.#left === 0) this.#end(frame, to);
    return to;
  }

  /** Returns a copy without the mask. `position` is that of the first byte within the payload. */
  #unmask(bytes: Buffer, position: number): Buffer {
    const mask = this.#headBytes - MASK_BYTES;
    const copy = Buffer.allocUnsafe(bytes.length);
    for (let i = 0; i < bytes.length; i++)
      copy[i] = (bytes[i] ?? 0) ^ (this.#head[mask + ((position + i) & 3)] ?? 0);
    return copy;
  }

  #end(frame: Frame, at: number): void {
    this.#frame = null;
    this.#headBytes = 0;
    this.#sink.onFrameEnd(frame, at);
  }
}
