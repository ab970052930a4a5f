import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { FrameReader, OPCODE, type Frame } from "../../core/websocket/frame-reader.ts";
import { writeClose, writeFrame, type CloseCode } from "../../core/websocket/write-frame.ts";
import type { Call } from "../api.ts";
import type { PendingResponse } from "../http/send-response.ts";

/** OpenAI closes a WebSocket at a message of so many bytes (docs/websocket.md). */
const MESSAGE_LIMIT = 16 * 1024 * 1024;

/** Accepts a handshake. Returns its connection; null if that has gone. */
export function acceptHandshake({ request }: Call, { response, headers }: PendingResponse): Socket | null {
  const { socket } = response;
  if (socket === null) return null;
  response.detachSocket(socket);
  const accept = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");
  const lines = Object.entries({ ...headers, "sec-websocket-accept": accept }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${lines.join("")}\r\n`,
  );
  return socket;
}

/** An open WebSocket as whole messages, of both kinds alike. Pings are answered, and a Close is returned. */
export class MessageSocket {
  readonly #socket: Socket;
  readonly #gone = new AbortController();
  #payload: Buffer[] = [];
  #bytes = 0;
  /** Payload of a control frame, which may stand between those of a message, and is sent back. */
  #control: Buffer[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Aborted once nothing more can be sent. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  listen(onMessage: (text: string) => void): void {
    const reader = new FrameReader(true, {
      onFrame: (frame) => this.#onFrame(frame),
      onPayload: (bytes, frame) => this.#onPayload(bytes, frame),
      onFrameEnd: (frame) => {
        const text = this.#onFrameEnd(frame);
        if (text !== null) onMessage(text);
      },
    });
    this.#socket.on("data", (chunk: Buffer) => {
      reader.feed(chunk);
      if (reader.fault !== null) this.close(1002, reader.fault);
    });
    this.#socket.once("end", () => this.#socket.end());
    this.#socket.once("close", () => this.#gone.abort());
  }

  /** Sends a frame as it is. */
  write(frame: Buffer): void {
    this.#socket.write(frame);
  }

  /** Ends it with a Close. */
  close(code: CloseCode, reason: string): void {
    this.#end(writeClose(code, reason));
  }

  /** Ends the connection without a Close: as a reset, or after what has been sent. */
  cut(isReset: boolean): void {
    if (isReset) this.#socket.resetAndDestroy();
    else this.#socket.destroySoon();
  }

  /** Ends the connection after a fault of our own. */
  destroy(): void {
    this.#socket.destroy();
  }

  #onFrame({ isControl, length }: Frame): void {
    if (isControl) this.#control = [];
    else if (this.#bytes + length >= MESSAGE_LIMIT) this.close(1009, "message too big");
  }

  #onPayload(bytes: Buffer, { isControl }: Frame): void {
    if (isControl) this.#control.push(bytes);
    else {
      this.#payload.push(bytes);
      this.#bytes += bytes.length;
    }
  }

  /** Returns the message that the frame ends; null if it ends none. */
  #onFrameEnd({ opcode, isControl, isFinal }: Frame): string | null {
    if (this.gone.aborted) return null;
    if (opcode === OPCODE.ping) this.write(writeFrame(OPCODE.pong, Buffer.concat(this.#control)));
    else if (opcode === OPCODE.close) this.#end(writeFrame(OPCODE.close, Buffer.concat(this.#control)));
    if (isControl || !isFinal) return null;
    const text = Buffer.concat(this.#payload).toString();
    this.#payload = [];
    this.#bytes = 0;
    return text;
  }

  #end(frame: Buffer): void {
    if (this.gone.aborted) return;
    this.#gone.abort();
    this.#socket.end(frame);
  }
}
