import type { JsonObject } from "../../core/json.ts";
import { addCrc32 } from "../../core/usage/bedrock/crc32.ts";

/** The type of a stream of frames (docs/wire.md section 14). */
export const FRAMES_TYPE = "application/vnd.amazon.eventstream";

/** In a header of a frame, the type of a value that is a string. */
const STRING = 7;

/** Of the two lengths and their checksum, and of the last checksum. */
const [HEAD_BYTES, SUM_BYTES] = [12, 4];

/** Returns the frame of an event of a stream. */
export function eventFrame(type: string, payload: JsonObject): Buffer {
  return encodeFrame({ ":event-type": type, ":message-type": "event" }, payload);
}

/** Returns the frame of an exception that ends a stream. */
export function exceptionFrame(type: string, message: string): Buffer {
  return encodeFrame({ ":exception-type": type, ":message-type": "exception" }, { message });
}

/** Returns the frame of an event of a model's maker. */
export function chunkFrame(event: JsonObject): Buffer {
  return eventFrame("chunk", { bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "abcdefgh" });
}

function encodeFrame(named: Readonly<Record<string, string>>, payload: JsonObject): Buffer {
  const all = { ...named, ":content-type": "application/json" };
  const headers = Buffer.concat(Object.entries(all).map(([name, value]) => encodeHeader(name, value)));
  const content = Buffer.from(JSON.stringify(payload));
  const frame = Buffer.alloc(HEAD_BYTES + headers.length + content.length + SUM_BYTES);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(headers.length, 4);
  frame.writeUInt32BE(addCrc32(0, frame, 0, 8), 8);
  headers.copy(frame, HEAD_BYTES);
  content.copy(frame, HEAD_BYTES + headers.length);
  const end = frame.length - SUM_BYTES;
  frame.writeUInt32BE(addCrc32(0, frame, 0, end), end);
  return frame;
}

function encodeHeader(name: string, value: string): Buffer {
  const head = Buffer.from([name.length, ...Buffer.from(name), STRING, 0, 0]);
  head.writeUInt16BE(Buffer.byteLength(value), head.length - 2);
  return Buffer.concat([head, Buffer.from(value)]);
}
