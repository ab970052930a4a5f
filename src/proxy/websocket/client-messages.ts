import type { Compression } from "../../core/websocket/compression.ts";
import { FrameReader, OPCODE, type Frame } from "../../core/websocket/frame-reader.ts";
import type { SharedBuffer } from "../exchange/shared-buffer.ts";
import { Inflater } from "./inflater.ts";

/**
 * The longest message. Upstreams close a WebSocket at 16 MiB (docs/websocket.md), with the code at which clients go on with POST: that has to
 * be the upstream's.
 */
const MOST_MESSAGE_BYTES = 16 * 1024 * 1024 + 64 * 1024;

/** A message of the client, whole. */
export interface ClientMessage {
  /** Its frames as they arrived. */
  raw: Buffer[];
  /** Its payload, without masks and compression. */
  payload: Buffer[];
  /** Of the payload. */
  bytes: number;
  isText: boolean;
  isCompressed: boolean;
  /** True once the payload is no longer that of the frames. */
  isReplaced: boolean;
  /** What it counts in the buffer. */
  heldBytes: number;
}

/** What a client sends, in order. */
interface ClientMessageSink {
  /** A message has arrived. It counts in the buffer until {@link ClientMessages.release} is called with it. */
  onMessage(message: ClientMessage): void;
  /** A ping or a pong, which may stand between the frames of a message, and does not wait for it. */
  onControl(raw: Buffer): void;
  /** The client closes the WebSocket. Nothing follows. */
  onClose(raw: Buffer): void;
  /** Messages may not be as long as one that has begun. Nothing follows. */
  onTooLong(): void;
  /** There is no room for more of a message. Nothing follows. */
  onFull(): void;
  /** A compressed message cannot be read. Nothing follows. */
  onUnreadable(): void;
  /** What has arrived is no WebSocket frame. Nothing follows. */
  onInvalid(fault: string): void;
}

/** Collects the messages of a client, each of which waits whole until it is judged. */
export class ClientMessages {
  readonly #sink: ClientMessageSink;
  readonly #buffer: SharedBuffer;
  readonly #reader: FrameReader;
  /** null if messages are not compressed. */
  readonly #inflater: Inflater | null;
  /** The bytes of the frame that has not ended. */
  #frame: Buffer[] = [];
  #message = newMessage();
  /** Where the frame that has not ended begins in the chunk that is being read. */
  #from = 0;
  #chunk: Buffer = Buffer.alloc(0);
  #isOver = false;

  /** `compression` is what was agreed on; null for none. */
  constructor(buffer: SharedBuffer, compression: Compression | null, sink: ClientMessageSink) {
    this.#buffer = buffer;
    this.#sink = sink;
    this.#inflater = compression === null ? null : new Inflater(compression.clientTakesOver);
    const frames = {
      onFrame: (frame: Frame) => this.#onFrame(frame),
      onPayload: (bytes: Buffer, frame: Frame) => this.#onPayload(bytes, frame),
      onFrameEnd: (frame: Frame, end: number) => this.#onFrameEnd(frame, end),
    };
    this.#reader = new FrameReader(true, frames, compression !== null);
  }

  /** Takes the next bytes. */
  feed(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#chunk = chunk;
    this.#from = 0;
    this.#reader.feed(chunk);
    if (this.#isOver) return;
    if (this.#reader.fault !== null) {
      this.close();
      this.#sink.onInvalid(this.#reader.fault);
    } else if (this.#from < chunk.length) this.#frame.push(chunk.subarray(this.#from));
  }

  /** A message no longer waits. */
  release(message: ClientMessage): void {
    this.#hold(message, 0);
  }

  /** Reads nothing more, and drops the message that has not ended. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.release(this.#message);
  }

  #onFrame({ isControl, length, opcode, isCompressed }: Frame): void {
    if (isControl || this.#isOver) return;
    if (opcode !== OPCODE.continuation) {
      this.#message.isText = opcode === OPCODE.text;
      this.#message.isCompressed = isCompressed;
    }
    // By what is announced: nothing is kept of a message that is refused.
    if (this.#message.bytes + length <= MOST_MESSAGE_BYTES) return;
    this.close();
    this.#sink.onTooLong();
  }

  #onPayload(bytes: Buffer, { isControl }: Frame): void {
    if (isControl || this.#isOver) return;
    const message = this.#message;
    message.payload.push(bytes);
    message.bytes += bytes.length;
    // Both copies count.
    this.#hold(message, message.heldBytes + 2 * bytes.length);
    if (!this.#buffer.isFull) return;
    this.close();
    this.#sink.onFull();
  }

  #hold(message: ClientMessage, bytes: number): void {
    this.#buffer.resize(message.heldBytes, bytes);
    message.heldBytes = bytes;
  }

  #onFrameEnd({ isControl, isFinal, opcode }: Frame, end: number): void {
    if (this.#isOver) return;
    const raw = [...this.#frame, this.#chunk.subarray(this.#from, end)];
    this.#frame = [];
    this.#from = end;
    if (opcode === OPCODE.close) {
      this.close();
      this.#sink.onClose(Buffer.concat(raw));
    } else if (isControl) this.#sink.onControl(Buffer.concat(raw));
    else {
      const message = this.#message;
      message.raw.push(...raw);
      if (!isFinal || (message.isCompressed && !this.#inflate(message))) return;
      this.#message = newMessage();
      this.#sink.onMessage(message);
    }
  }

  /** Replaces the payload. False if nothing follows. */
  #inflate(message: ClientMessage): boolean {
    const inflated = this.#inflater?.inflate(message.payload, MOST_MESSAGE_BYTES) ?? "invalid";
    if (Buffer.isBuffer(inflated)) {
      this.#hold(message, message.bytes + inflated.length);
      message.payload = [inflated];
      message.bytes = inflated.length;
      if (!this.#buffer.isFull) return true;
    }
    this.close();
    if (inflated === "invalid") this.#sink.onUnreadable();
    else if (inflated === "too long") this.#sink.onTooLong();
    else this.#sink.onFull();
    return false;
  }
}

function newMessage(): ClientMessage {
  return {
    raw: [],
    payload: [],
    bytes: 0,
    isText: true,
    isCompressed: false,
    isReplaced: false,
    heldBytes: 0,
  };
}
