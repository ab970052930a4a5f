import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import * as fc from "fast-check";
import { isObject, parseJson } from "../../src/core/json.ts";
import { createMeter, type MeterSetup } from "../../src/core/usage/meter.ts";
import type { MeterReading } from "../../src/core/usage/reading.ts";
import { assertInvariants } from "../core/usage/invariants.ts";
import { setup } from "../core/usage/response-bodies.ts";
import { feedRepeatedly, MAX_RETAINED_BYTES } from "../core/usage/retained.ts";
import { post } from "../helpers/gate/gate.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { EVENT_STREAM_TYPE } from "../helpers/upstream/bedrock-frames.ts";
import { chunking, splitIntoChunks, type Chunking } from "./chunking.ts";
import { property, type Property } from "./property.ts";
import { withTestContext } from "./test-context.ts";

// Streams of AWS's frames, whole, damaged, and with lengths that are wrong although each checksum is right.

const FRAMES: MeterSetup = setup({ dialect: "bedrock", contentType: EVENT_STREAM_TYPE });

/** What is wrong about a frame. */
type Fault =
  | { kind: "none" }
  | { kind: "flip"; at: number; bits: number }
  | { kind: "cut"; at: number }
  // With right checksums.
  | { kind: "frame length" | "headers length"; bytes: number };

interface Written {
  headers: Buffer;
  payload: Buffer;
  fault: Fault;
}

const STRING = 7;

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([STRING]),
    length,
    Buffer.from(value),
  ]);
}

const count = fc.nat({ max: 1_000_000 });

const usage = fc.record(
  { inputTokens: count, outputTokens: count, cacheReadInputTokens: count, cacheWriteInputTokens: count },
  { requiredKeys: ["inputTokens", "outputTokens"] },
);

/** Types of events with what they hold. */
const events: fc.Arbitrary<[type: string, payload: string]> = fc.oneof(
  {
    weight: 4,
    arbitrary: usage.map((found): [string, string] => ["metadata", JSON.stringify({ usage: found })]),
  },
  {
    weight: 2,
    arbitrary: fc
      .string({ maxLength: 60, unit: "grapheme" })
      .map((text): [string, string] => ["contentBlockDelta", JSON.stringify({ delta: { text } })]),
  },
  { weight: 1, arbitrary: fc.constant<[string, string]>(["messageStop", '{"stopReason":"end_turn"}']) },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }).map((text): [string, string] => ["metadata", text]) },
);

const messageTypes = fc.constantFrom(
  "event",
  "event",
  "event",
  "event",
  "event",
  "event",
  "exception",
  "error",
  "other",
);

const headers = fc.oneof(
  { weight: 12, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
);

const LENGTHS = [0, 1, 11, 12, 15, 16, 17, 100, 8_191, 8_192, 8_193, 1 << 20, 0x7f_ff_ff_ff, 0xff_ff_ff_ff];

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 16, arbitrary: fc.constant<Fault>({ kind: "none" }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("flip" as const),
      at: fc.nat(),
      bits: fc.integer({ min: 1, max: 255 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const), at: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("frame length" as const, "headers length" as const),
      bytes: fc.oneof(fc.constantFrom(...LENGTHS), fc.nat({ max: 300 })),
    }),
  },
);

const frames: fc.Arbitrary<Written[]> = fc.array(
  fc.tuple(events, messageTypes, headers, fault).map(([[type, payload], message, other, wrong]): Written => ({
    headers:
      other === null
        ? Buffer.concat([header(":event-type", type), header(":message-type", message)])
        : Buffer.from(other),
    payload: Buffer.from(payload),
    fault: wrong,
  })),
  { maxLength: 8 },
);

function write({ headers: head, payload, fault: wrong }: Written): Buffer {
  const bytes = Buffer.alloc(16 + head.length + payload.length);
  bytes.writeUInt32BE(wrong.kind === "frame length" ? wrong.bytes : bytes.length, 0);
  bytes.writeUInt32BE(wrong.kind === "headers length" ? wrong.bytes : head.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  head.copy(bytes, 12);
  payload.copy(bytes, 12 + head.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
  if (wrong.kind === "flip") {
    const at = wrong.at % bytes.length;
    bytes[at] = (bytes[at] ?? 0) ^ wrong.bits;
  }
  return wrong.kind === "cut" ? bytes.subarray(0, wrong.at % bytes.length) : bytes;
}

/** Values of headers by their type, in bytes; null for those that say it themselves. */
const SIZES: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16];

/** Returns the headers that are strings; null where these bytes are no headers. */
function parseHeaders(bytes: Buffer): Map<string, string> | null {
  const found = new Map<string, string>();
  let rest = bytes;
  while (rest.length > 0) {
    const length = rest.readUInt8(0);
    const type = rest.subarray(1 + length, 2 + length)[0] ?? 255;
    const after = rest.subarray(2 + length);
    const fixed = SIZES[type];
    if (fixed === undefined || (fixed === null && after.length < 2)) return null;
    const value = fixed === null ? after.subarray(2) : after;
    const size = fixed ?? after.readUInt16BE(0);
    if (value.length < size) return null;
    if (type === STRING) found.set(rest.toString("latin1", 1, 1 + length), value.toString("utf8", 0, size));
    rest = value.subarray(size);
  }
  return found;
}

/** What a reader that has the whole stream at hand finds in it, up to the first frame that is not as it says. */
interface Found {
  usage: unknown;
  hasFailed: boolean;
  isEnded: boolean;
}

function find(bytes: Buffer): Found {
  const found: Found = { usage: null, hasFailed: false, isEnded: false };
  let rest = bytes;
  while (rest.length > 0) {
    const [frameBytes, headersBytes] =
      rest.length < 16 ? [0, 0] : [rest.readUInt32BE(0), rest.readUInt32BE(4)];
    const one = rest.subarray(0, frameBytes);
    const isWhole =
      frameBytes >= 16 + headersBytes &&
      headersBytes <= 8_192 &&
      one.length === frameBytes &&
      crc32(one.subarray(0, 8)) === one.readUInt32BE(8) &&
      crc32(one.subarray(0, -4)) === one.readUInt32BE(frameBytes - 4);
    if (!isWhole) return found;
    addFrame(found, parseHeaders(one.subarray(12, 12 + headersBytes)), one.subarray(12 + headersBytes, -4));
    rest = rest.subarray(frameBytes);
  }
  return found;
}

function addFrame(found: Found, names: Map<string, string> | null, payload: Buffer): void {
  const [message, type] = [names?.get(":message-type"), names?.get(":event-type")];
  if (message === "exception" || message === "error") found.hasFailed = true;
  if (message !== "event" || type === undefined || payload.length === 0) return;
  const event = parseJson(payload.toString());
  if (type !== "metadata" || !isObject(event)) return;
  found.isEnded = true;
  found.usage = isObject(event["usage"]) ? event["usage"] : found.usage;
}

function meter(pieces: Iterable<Buffer>, isWhole: boolean): MeterReading {
  const reader = createMeter(FRAMES);
  for (const piece of pieces) {
    reader.feed(piece);
    assertInvariants(reader.readSoFar());
  }
  return reader.finish(isWhole);
}

/** The usage is that of the last metadata before the damage, or none; and it is final only where the stream said that it had ended. */
function assertExactOrAbsent(reading: Pick<MeterReading, "usage" | "raw_usage">, found: Found): void {
  assert.deepEqual(reading.raw_usage, found.usage);
  if (found.usage === null) assert.equal(reading.usage, "absent");
  else assert.equal(reading.usage, found.isEnded && !found.hasFailed ? "final" : "partial");
}

function assertFramesRead(list: readonly Written[], pieces: Chunking): void {
  const bytes = Buffer.concat(list.map(write));
  assertExactOrAbsent(meter(splitIntoChunks(bytes, pieces), true), find(bytes));
}

/** Beginnings after which any bytes may follow: a frame's lengths, with a right checksum. */
function prelude(frameBytes: number, headersBytes: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(frameBytes, 0);
  bytes.writeUInt32BE(headersBytes, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  return bytes;
}

const MIB = 1024 * 1024;

const heads = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(16, 8_300, 2 * MIB, 24 * MIB, 0xff_ff_ff_ff),
      fc.constantFrom(0, 1, 90, 8_192, 8_193, 2 * MIB),
    )
    .map(([frame, head]) => prelude(frame, head)),
  fc.constantFrom("contentBlockDelta", "metadata", "chunk").map((type) => {
    const named = Buffer.concat([header(":event-type", type), header(":message-type", "event")]);
    return Buffer.concat([prelude(24 * MIB, named.length), named, Buffer.from('{"usage":{"a":"')]);
  }),
  frames.map((list) => Buffer.concat(list.map(write))),
);

/** The client gets each byte as it was sent, whatever the frames are, and the record says what could be read. */
async function assertPassed(list: readonly Written[], pieces: Chunking): Promise<void> {
  const bytes = Buffer.concat(list.map(write));
  await withTestContext(async (t) => {
    const script: Parameters<typeof startGateWithUpstream>[1] = (_seen, res) => {
      res.writeHead(200, { "content-type": EVENT_STREAM_TYPE });
      for (const piece of splitIntoChunks(bytes, pieces)) res.write(Buffer.from(piece));
      res.end();
    };
    const { gate } = await startGateWithUpstream(t, script, { upstream: { apis: ["bedrock"] } });
    const response = await post(gate, "/model/amazon.nova-lite-v1%3A0/converse-stream", { messages: [] });
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
    const record = await gate.ledger.only();
    assertExactOrAbsent(record, find(bytes));
    assert.deepEqual(
      gate.log.lines.filter((line) => line.startsWith("error")),
      [],
    );
  });
}

/** Properties of the reader of AWS's frames. */
export const BEDROCK_FRAMES: readonly Property[] = [
  property(
    "AWS's frames: usage is what the whole stream says up to its first fault, however it arrives",
    { batch: 400 },
    fc.property(frames, chunking, assertFramesRead),
  ),
  property(
    "AWS's frames: whatever lengths they state, a meter retains no more than its stated limit",
    { batch: 6 },
    fc.property(heads, fc.constantFrom("x", "\0", "\\u0041", '{"a":[', '"'), (head, filler) => {
      const { retained } = feedRepeatedly(FRAMES, head, filler, 2 * MAX_RETAINED_BYTES);
      assert.ok(retained < MAX_RETAINED_BYTES, `${retained} bytes`);
    }),
  ),
  property(
    "AWS's frames: each byte of them passes as it came, and the record says what could be read",
    { batch: 15 },
    fc.asyncProperty(frames, chunking, assertPassed),
  ),
];
