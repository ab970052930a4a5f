import * as fc from "fast-check";
import assert from "node:assert/strict";
import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import * as ws from "ws";
import { FrameReader, OPCODE, type Frame } from "../../src/core/websocket/frame-reader.ts";
import { writeClose, writeText } from "../../src/core/websocket/write-frame.ts";
import { chunking, splitIntoChunks, type Chunking } from "./chunking.ts";
import { property, type Property } from "./property.ts";

/** Stands in for the inflater of `ws`: here only frames are read. websocket-compression.ts has the rest. */
const UNCHANGED = {
  decompress: (data: Buffer, _fin: boolean, done: (error: null, result: Buffer) => void) =>
    queueMicrotask(() => done(null, data)),
};

/** What `ws` reads frames with. Its types leave it out. */
const { Receiver } = ws as unknown as {
  Receiver: new (options: {
    isServer: boolean;
    skipUTF8Validation: boolean;
    extensions: Record<string, typeof UNCHANGED>;
  }) => Writable;
};

/** A message or a control frame, as both readers tell it, and at the end whether the peer broke a rule. */
type Seen = [what: "text" | "binary" | "ping" | "pong" | "close" | "fault", payload: string];

/** A frame as it is written, with damage. */
interface Written {
  opcode: number;
  isFinal: boolean;
  /** The three reserved bits. That of a compressed message is 4. */
  reserved: number;
  payload: Buffer;
  /** How its length is written: as short as possible, or longer. */
  form: "short" | "16" | "64";
  mask: number;
  edit: { at: number; byte: number } | null;
}

const opcodes = Object.values(OPCODE);

const payloads = fc.oneof(
  fc.string({ maxLength: 30 }).map((text) => Buffer.from(text)),
  // On both sides of the lengths at which the head grows. A Close takes no more than 125.
  fc.constantFrom(0, 1, 2, 125, 126, 127, 300, 65_535, 65_536).map((length) => Buffer.alloc(length, "ä")),
);

const frame: fc.Arbitrary<Written> = fc.record({
  opcode: fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...opcodes) }, fc.nat({ max: 15 })),
  isFinal: fc.constantFrom(true, true, false),
  reserved: fc.constantFrom(0, 0, 0, 0, 0, 0, 4, 4, 4, 1, 2, 6),
  payload: payloads,
  form: fc.constantFrom("short", "short", "short", "16", "64"),
  mask: fc.nat({ max: 0xffffffff }),
  edit: fc.option(fc.record({ at: fc.nat({ max: 20 }), byte: fc.nat({ max: 255 }) }), { freq: 12 }),
});

const conversations = fc.array(frame, { maxLength: 12 });

/** Makes of any frames such that form whole messages, with control frames between their fragments. */
function inOrder(frames: readonly Written[], mayCompress: boolean): Written[] {
  let isOpen = false;
  return frames.map((written) => {
    const isControl = written.opcode >= OPCODE.close;
    if (isControl) {
      const opcode = written.opcode % 2 === 0 ? OPCODE.pong : OPCODE.ping;
      const payload = written.payload.subarray(0, 125);
      return { ...written, opcode, isFinal: true, reserved: 0, payload, edit: null };
    }
    const opcode = isOpen ? OPCODE.continuation : 1 + (written.opcode % 2);
    const reserved = !isOpen && mayCompress ? written.reserved & 4 : 0;
    isOpen = !written.isFinal;
    return { ...written, opcode, reserved, edit: null };
  });
}

function write({ opcode, isFinal, reserved, payload, form, mask, edit }: Written, isMasked: boolean): Buffer {
  const { length } = payload;
  const isControl = opcode >= OPCODE.close;
  const is64 = length > 0xffff || (form === "64" && !isControl);
  const is16 = !is64 && (length > 125 || (form === "16" && !isControl));
  const head = Buffer.alloc(2 + (is64 ? 8 : is16 ? 2 : 0));
  head[0] = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (isMasked ? 0x80 : 0) | (is64 ? 127 : is16 ? 126 : length);
  if (is64) head.writeBigUInt64BE(BigInt(length), 2);
  if (is16) head.writeUInt16BE(length, 2);
  const key = Buffer.alloc(isMasked ? 4 : 0);
  if (isMasked) key.writeUInt32BE(mask);
  const sent = isMasked ? payload.map((byte, at) => byte ^ (key[at & 3] ?? 0)) : payload;
  const bytes = Buffer.concat([head, key, sent]);
  if (edit !== null) bytes[edit.at % bytes.length] = edit.byte;
  return bytes;
}

function seeWithOurs(bytes: Buffer, isMasked: boolean, mayCompress: boolean, chunks: Chunking): Seen[] {
  const seen: Seen[] = [];
  let [opcode, message, control]: [number, Buffer[], Buffer[]] = [0, [], []];
  let hasClosed = false;
  const sink = {
    onFrame(head: Frame) {
      if (!head.isControl && head.opcode !== OPCODE.continuation) opcode = head.opcode;
    },
    onPayload: (payload: Buffer, head: Frame) =>
      (head.isControl ? control : message).push(Buffer.from(payload)),
    onFrameEnd(head: Frame) {
      if (hasClosed || (!head.isControl && !head.isFinal)) return;
      const payload = Buffer.concat(head.isControl ? control : message).toString("latin1");
      const name = Object.entries(OPCODE).find(
        ([, code]) => code === (head.isControl ? head.opcode : opcode),
      );
      seen.push([(name?.[0] ?? "fault") as Seen[0], payload]);
      if (head.isControl) control = [];
      else message = [];
      hasClosed = head.opcode === OPCODE.close;
    },
  };
  const reader = new FrameReader(isMasked, sink, mayCompress);
  for (const piece of splitIntoChunks(bytes, chunks)) reader.feed(Buffer.from(piece));
  if (reader.fault !== null && !hasClosed) seen.push(["fault", ""]);
  return seen;
}

/** `ws` also judges the code of a Close, which is the peer's business here: such a fault counts as the Close. */
async function seeWithWs(bytes: Buffer, isMasked: boolean, mayCompress = false): Promise<Seen[]> {
  const seen: Seen[] = [];
  const extensions = mayCompress ? { "permessage-deflate": UNCHANGED } : {};
  const receiver = new Receiver({ isServer: isMasked, skipUTF8Validation: true, extensions });
  const add = (what: Seen[0], payload: Buffer) => seen.push([what, payload.toString("latin1")]);
  receiver.on("message", (data: Buffer, isBinary: boolean) => add(isBinary ? "binary" : "text", data));
  receiver.on("ping", (data: Buffer) => add("ping", data));
  receiver.on("pong", (data: Buffer) => add("pong", data));
  receiver.on("conclude", () => add("close", Buffer.alloc(0)));
  receiver.on("error", ({ message }: Error) =>
    add(/status code/.test(message) ? "close" : "fault", Buffer.alloc(0)),
  );
  await new Promise<void>((resolve) => {
    receiver.once("close", resolve);
    receiver.write(bytes, () => resolve());
  });
  await setImmediate();
  receiver.destroy();
  return seen;
}

function withoutReason(seen: readonly Seen[]): Seen[] {
  return seen.map(([what, payload]) => [what, what === "close" ? "" : payload]);
}

/** Properties of the reader of WebSocket frames. */
export const WEBSOCKET_FRAMES: readonly Property[] = [
  property(
    "WebSocket frames: what ws reads, the reader reads, and what ws refuses it refuses, however it arrives",
    { batch: 400 },
    fc.asyncProperty(
      conversations,
      fc.boolean(),
      fc.boolean(),
      chunking,
      async (frames, isMasked, mayCompress, chunks) => {
        const bytes = Buffer.concat(frames.map((written) => write(written, isMasked)));
        const seen = withoutReason(seeWithOurs(bytes, isMasked, mayCompress, chunks));
        assert.deepEqual(seen, await seeWithWs(bytes, isMasked, mayCompress));
      },
    ),
  ),
  property(
    "WebSocket frames: fragments, control frames between them and every form of a length are read as ws reads them",
    { batch: 300 },
    fc.asyncProperty(
      conversations,
      fc.boolean(),
      fc.boolean(),
      chunking,
      async (frames, isMasked, mayCompress, chunks) => {
        const bytes = Buffer.concat(inOrder(frames, mayCompress).map((written) => write(written, isMasked)));
        const seen = seeWithOurs(bytes, isMasked, mayCompress, chunks);
        assert.deepEqual(seen, await seeWithWs(bytes, isMasked, mayCompress));
        assert.ok(seen.every(([what]) => what !== "fault"));
      },
    ),
  ),
  property(
    "WebSocket frames: bytes that are no frames end in a fault or wait for more, and nothing is thrown",
    { batch: 500 },
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.boolean(),
      fc.boolean(),
      chunking,
      (bytes, isMasked, mayCompress, chunks) => {
        seeWithOurs(Buffer.from(bytes), isMasked, mayCompress, chunks);
      },
    ),
  ),
  property(
    "WebSocket frames: a message and a Close that we write are read by ws",
    { batch: 200 },
    fc.asyncProperty(
      payloads,
      fc.string({ maxLength: 150, unit: "grapheme-ascii" }),
      async (text, reason) => {
        const frames = [writeText(text.toString()), writeClose(1012, reason)];
        const expected = [
          ["text", Buffer.from(text.toString()).toString("latin1")],
          ["close", ""],
        ];
        assert.deepEqual(await seeWithWs(Buffer.concat(frames), false), expected);
      },
    ),
  ),
];
