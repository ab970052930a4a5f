import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";

/** A word that nothing else contains, safe in a header, a host name and a path. */
export function randomWord(): string {
  return `x${randomBytes(8).toString("hex")}`;
}

/** JSON that no two libraries would write alike: spacing, escapes, order, exponents and a lone surrogate. */
export const ODD_JSON = Buffer.from(
  `{ "stream" :false, "model":"check","z":1.0,"a":1e+2, "text":"\\u00e9é\\/\\ud800", "messages" : [ ] }\r\n`,
);

export const GZIPPED = gzipSync(ODD_JSON);

/** A whole zstd frame: single segment with its size in a byte, one raw block, the last (RFC 8878 section 3.1.1). */
export const ZSTD_FRAME = Buffer.concat([
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, ODD_JSON.length]),
  Buffer.from([((ODD_JSON.length << 3) & 0xff) | 1, ODD_JSON.length >> 5, 0]),
  ODD_JSON,
]);

/** `bytes` in pieces of 1, 2, 3, ... bytes, so that characters, lines and events are cut somewhere. */
export function cutOddly(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, size = 1; at < bytes.length; at += size, size += 1) {
    pieces.push(bytes.subarray(at, at + size));
  }
  return pieces;
}

/** The events of a whole Messages stream, with line ends of both kinds, a comment, and usage in the last but one. */
export const EVENTS = [
  `event: message_start\ndata: {"type":"message_start","message":{"id":"msg_check","type":"message","role":"assistant","model":"check","content":[],"usage":{"input_tokens":30,"cache_read_input_tokens":7,"cache_creation_input_tokens":5,"output_tokens":1}}}\n\n`,
  `: a comment é\r\n\r\nevent: ping\r\ndata: {"type": "ping"}\r\n\r\n`,
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é✓"}}\n\n`,
  `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":11}}\n\n`,
  `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
] as const;
