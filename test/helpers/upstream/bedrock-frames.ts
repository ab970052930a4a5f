import { crc32 } from "node:zlib";

/** Returns a header of a frame whose value is a string. */
function header(name: string, value: string): Buffer {
  const head = Buffer.from([name.length, ...Buffer.from(name), 7, 0, 0]);
  head.writeUInt16BE(Buffer.byteLength(value), head.length - 2);
  return Buffer.concat([head, Buffer.from(value)]);
}

/** Returns a frame of `application/vnd.amazon.eventstream`, as AWS documents it. */
export function frame(headers: Readonly<Record<string, string>>, payload: Buffer | string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const content = Buffer.from(payload);
  const bytes = Buffer.alloc(12 + head.length + content.length + 4);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(head.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  head.copy(bytes, 12);
  content.copy(bytes, 12 + head.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, bytes.length - 4)), bytes.length - 4);
  return bytes;
}

/** Returns the frame of an event. */
export function eventFrame(type: string, payload: object): Buffer {
  const headers = { ":event-type": type, ":content-type": "application/json", ":message-type": "event" };
  return frame(headers, JSON.stringify(payload));
}

/** Returns the frame of a model's own event, with the padding that Bedrock adds. */
export function chunkFrame(event: object, padding = "abcdefgh"): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString("base64");
  return eventFrame("chunk", { bytes, p: padding });
}

/** Returns the frame of an exception that ends a stream. */
export function exceptionFrame(type: string, message = "Too many tokens, please wait."): Buffer {
  const headers = {
    ":exception-type": type,
    ":content-type": "application/json",
    ":message-type": "exception",
  };
  return frame(headers, JSON.stringify({ message }));
}

export const EVENT_STREAM_TYPE = "application/vnd.amazon.eventstream";
