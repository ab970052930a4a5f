import type { Socket } from "node:net";
import type { EventReader, SocketEvent } from "../../core/usage/socket-events.ts";
import type { Compression } from "../../core/websocket/compression.ts";
import { FrameReader, OPCODE, type Frame } from "../../core/websocket/frame-reader.ts";
import { SendQueue } from "../exchange/send-queue.ts";
import type { SharedBuffer } from "../exchange/shared-buffer.ts";
import { CompressedEvents } from "./compressed-events.ts";

/** The most frames of our own that wait for the end of a message. */
const MOST_OWN = 64;

/** Of a longer message only so much is copied. */
const MOST_COPIED_BYTES = 16 * 1024 * 1024;

/** What is found in the bytes of an upstream. */
interface DownstreamSink {
  /**
   * An event has arrived, in a message of so many bytes. For one that ends a response, returns what has to be done before the client may see the
   * end of it: it calls back once that is done.
   * @param copy - the message; null unless it {@link DownstreamSink.isCopied}
   */
  onEvent(event: SocketEvent, bytes: number, copy: Buffer | null): ((done: () => void) => void) | null;
  /** True while a person wants copies of the messages. */
  isCopied(): boolean;
  /** The client has taken something: there is room for more. */
  onProgress(): void;
}

/**
 * Brings the bytes of an upstream to the client as they are, and reads a copy. The last byte of an event that ends a response waits until
 * the response is recorded, and everything behind it. Frames of our own go between two messages.
 */
export class Downstream {
  readonly #sink: DownstreamSink;
  /** null once the client has left: the rest is only read. */
  #queue: SendQueue | null;
  readonly #reader: FrameReader;
  readonly #events: EventReader;
  #hasClosed = false;
  #messageBytes = 0;
  /** Copies of what has come of a message. */
  #copied: Buffer[] = [];
  #isText = false;
  #isCompressed = false;
  /** null if messages are not compressed. */
  readonly #compressed: CompressedEvents | null;
  #chunk: Buffer = Buffer.alloc(0);
  /** Where the bytes begin in the chunk that were not written yet. */
  #from = 0;
  /** Ends of responses that wait for their records. */
  #waiting = 0;
  /** What is behind the first of them. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Frames of our own that wait for the end of a message. */
  #own: Buffer[] = [];

  /** `compression` is what was agreed on; null for none. */
  constructor(
    socket: Socket,
    buffer: SharedBuffer,
    compression: Compression | null,
    events: EventReader,
    sink: DownstreamSink,
  ) {
    this.#sink = sink;
    this.#events = events;
    this.#compressed =
      compression === null ? null : new CompressedEvents(buffer, compression.serverTakesOver);
    this.#queue = new SendQueue(socket, buffer, () => sink.onProgress());
    const frames = {
      onFrame: (frame: Frame) => this.#onFrame(frame),
      onPayload: (bytes: Buffer, frame: Frame) => this.#onPayload(bytes, frame),
      onFrameEnd: (frame: Frame, end: number) => this.#onFrameEnd(frame, end),
    };
    this.#reader = new FrameReader(false, frames, compression !== null);
  }

  /** False while the client does not keep up. */
  get hasRoom(): boolean {
    return this.#queue?.hasRoom ?? true;
  }

  /** True once the upstream has sent what is no frame, or cannot be inflated: its bytes still pass, and nothing can be read of them. */
  get isUnreadable(): boolean {
    return this.#reader.fault !== null || this.#compressed?.isLost === true;
  }

  /** False while the client does not read the frames of our own that it has caused. */
  get maySend(): boolean {
    return this.hasRoom && this.#own.length < MOST_OWN;
  }

  /** True where a frame of our own may stand. */
  get isBetweenMessages(): boolean {
    return this.#reader.isBetweenMessages && this.#reader.fault === null;
  }

  /** True once the upstream has closed the WebSocket. */
  get hasClosed(): boolean {
    return this.#hasClosed;
  }

  /** Takes the next bytes of the upstream. */
  take(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#from = 0;
    this.#reader.feed(chunk);
    this.#writeTo(chunk.length);
  }

  /** Sends a frame of our own: now, or after the message that is under way. */
  send(frame: Buffer): void {
    if (this.isBetweenMessages) this.#write(frame);
    else this.#own.push(frame);
  }

  /** Writes all that waits for the client, so that its connection can be ended. */
  flush(): void {
    this.#queue?.flush();
  }

  /** Reads nothing more of what the upstream sends. */
  stopReading(): void {
    this.#compressed?.close();
  }

  /** The client has left. */
  onClientGone(): void {
    this.#queue?.close();
    this.#queue = null;
    this.#held = [];
  }

  #onFrame({ isControl, opcode, isCompressed }: Frame): void {
    if (isControl || opcode === OPCODE.continuation) return;
    this.#isText = opcode === OPCODE.text;
    this.#isCompressed = isCompressed;
  }

  #onPayload(bytes: Buffer, { isControl }: Frame): void {
    if (isControl) return;
    if (this.#isCompressed) this.#compressed?.collect(bytes);
    else this.#read(bytes);
  }

  #read(bytes: Buffer): void {
    this.#messageBytes += bytes.length;
    this.#events.feed(bytes);
    if (this.#messageBytes <= MOST_COPIED_BYTES && this.#sink.isCopied())
      this.#copied.push(Buffer.from(bytes));
  }

  #onFrameEnd({ opcode, isControl, isFinal }: Frame, end: number): void {
    this.#hasClosed ||= opcode === OPCODE.close;
    if (isControl || !isFinal) return;
    const inflated = this.#isCompressed ? this.#compressed?.end() : null;
    if (inflated) this.#read(inflated);
    const event = this.#events.end();
    const bytes = this.#messageBytes;
    this.#messageBytes = 0;
    const copy = this.#copied.length === 0 ? null : Buffer.concat(this.#copied.splice(0));
    const isRead = this.#isText || this.#events.readsBinary;
    const settle = event === null || !isRead ? null : this.#sink.onEvent(event, bytes, copy);
    if (settle !== null) this.#holdEnd(end, settle);
    if (this.#own.length === 0) return;
    this.#writeTo(end);
    for (const frame of this.#own.splice(0)) this.#write(frame);
  }

  #holdEnd(end: number, settle: (done: () => void) => void): void {
    this.#writeTo(end - 1);
    this.#waiting += 1;
    this.#writeTo(end);
    settle(() => {
      this.#waiting -= 1;
      if (this.#waiting > 0) return;
      this.#hold(0);
      for (const bytes of this.#held.splice(0)) this.#queue?.write(bytes);
    });
  }

  #writeTo(end: number): void {
    if (end > this.#from) this.#write(this.#chunk.subarray(this.#from, end));
    this.#from = end;
  }

  #write(bytes: Buffer): void {
    if (this.#queue === null) return;
    if (this.#waiting === 0) {
      this.#queue.write(bytes);
      return;
    }
    this.#held.push(bytes);
    this.#hold(this.#heldBytes + bytes.length);
  }

  /** What waits for a record counts: a disk may take its time, and the upstream may go on. */
  #hold(bytes: number): void {
    this.#heldBytes = bytes;
    this.#queue?.hold(bytes);
  }
}
