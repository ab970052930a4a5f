import { OPCODE } from "./frame-reader.ts";

const FINAL_BIT = 0x80;
const MASK_BIT = 0x80;
const MOST_SHORT_BYTES = 125;
const MOST_16_BIT = 0xffff;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
/** A Close has a code of two bytes before its reason (RFC 6455 section 5.5.1). */
const MOST_REASON_BYTES = MOST_SHORT_BYTES - 2;

/** The codes with which we close a socket (RFC 6455 section 7.4.1; 1012 and 1013 in the registry of IANA). */
export type CloseCode =
  /** We stop. */
  | 1001
  /** The client has sent what is no WebSocket frame. */
  | 1002
  /** A compressed message of the client cannot be read. */
  | 1007
  /** A message is refused. */
  | 1008
  /** A message is longer than we take. */
  | 1009
  /** The key or the upstream has changed, or the socket is too old: a new one works. */
  | 1012
  /** Too much waits elsewhere: a new one works later. */
  | 1013;

/** Returns the frame of a text message that a server sends: whole and without a mask. */
export function writeText(text: string): Buffer {
  return writeFrame(OPCODE.text, Buffer.from(text));
}

/** Returns the frame with which a server closes a socket. Only the first 123 bytes of the reason, which is ASCII, are sent. */
export function writeClose(code: CloseCode, reason: string): Buffer {
  const payload = Buffer.from(`\0\0${reason}`, "latin1").subarray(0, 2 + MOST_REASON_BYTES);
  payload.writeUInt16BE(code);
  return writeFrame(OPCODE.close, payload);
}

/** Returns a frame that a server sends: the only one of its message, and without a mask. */
export function writeFrame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([writeHead(opcode, payload.length), payload]);
}

/** Returns the same as a client sends it, with a mask of four bytes, which has to be random (RFC 6455 section 5.3). */
export function writeMaskedFrame(opcode: number, payload: Buffer, mask: Buffer): Buffer {
  const head = writeHead(opcode, payload.length);
  head[1] = (head[1] ?? 0) | MASK_BIT;
  const masked = payload.map((byte, at) => byte ^ (mask[at & 3] ?? 0));
  return Buffer.concat([head, mask, masked]);
}

function writeHead(opcode: number, length: number): Buffer {
  const first = FINAL_BIT | opcode;
  if (length <= MOST_SHORT_BYTES) return Buffer.from([first, length]);
  if (length <= MOST_16_BIT) {
    const head = Buffer.from([first, LENGTH_16, 0, 0]);
    head.writeUInt16BE(length, 2);
    return head;
  }
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = LENGTH_64;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
