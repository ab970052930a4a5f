import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";

/** Returns a unique word that is valid in a header, a host name and a path. */
export function randomWord(): string {
  return `x${randomBytes(8).toString("hex")}`;
}

/** JSON that would change if it were parsed and re-serialized: spacing, escapes, order, exponents, a lone surrogate. */
export const ODD_JSON = Buffer.from(
  `{ "stream" :false, "model":"check","z":1.0,"a":1e+2, "text":"\\u00e9é\\/\\ud800", "messages" : [ ] }\r\n`,
);

export const GZIPPED = gzipSync(ODD_JSON);

/** A complete zstd frame: one segment, its size in one byte, one raw block (RFC 8878 section 3.1.1). */
export const ZSTD_FRAME = Buffer.concat([
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, ODD_JSON.length]),
  Buffer.from([((ODD_JSON.length << 3) & 0xff) | 1, ODD_JSON.length >> 5, 0]),
  ODD_JSON,
]);

/** Splits into pieces of 1, 2, 3, ... bytes, so that some characters, lines and events are split. */
export function splitUnevenly(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, size = 1; at < bytes.length; at += size, size += 1) {
    pieces.push(bytes.subarray(at, at + size));
  }
  return pieces;
}

/** The events of a complete Messages stream, with both kinds of line ends, a comment, and usage in the last but one. */
export const EVENTS = [
  `event: message_start\ndata: {"type":"message_start","message":{"id":"msg_check","type":"message","role":"assistant","model":"check","content":[],"usage":{"input_tokens":30,"cache_read_input_tokens":7,"cache_creation_input_tokens":5,"output_tokens":1}}}\n\n`,
  `: a comment é\r\n\r\nevent: ping\r\ndata: {"type": "ping"}\r\n\r\n`,
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é✓"}}\n\n`,
  `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":11}}\n\n`,
  `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
] as const;
