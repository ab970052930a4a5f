// D6, hostile payloads: whatever a response contains, its bytes pass unchanged, the meter's memory stays bounded, and the record
// holds safe numbers or none.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { measureUsedMemory } from "../helpers/process/used-memory.ts";
import { MESSAGE, MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";
import { ZSTD_HEAD_BYTES, zstdWindow, zstdZeros } from "../helpers/upstream/zstd-frames.ts";
import { MIB, repeat } from "./floods/scenario.ts";
import { cannotMeasureMemory } from "./measure-memory.ts";
import { measurePassThrough, passThrough } from "./pass-through.ts";

const LIMIT = { timeout: 300_000 };
const MEASURED = { ...LIMIT, skip: cannotMeasureMemory };
/** Allowed beyond a large plain response, because the time of garbage collection varies. Keeping the body would cost 200 MiB. */
const MAX_GROWTH_BYTES = 48 * MIB;
/** What the socket buffers of client, gate and upstream hold in any case. */
const MAX_BUFFERED_BYTES = 20 * MIB;

const JSON_HEAD = { "content-type": "application/json" };
const SSE_HEAD = { "content-type": "text/event-stream" };

const GZIP = { ...JSON_HEAD, "content-encoding": "gzip" };

/** Decompresses to one mebibyte. A gzip file may have many such members (RFC 1952 section 2.2). */
const BOMB = gzipSync(Buffer.alloc(MIB));

test("a gzip bomb of a gigabyte is not decompressed, and its usage is absent", MEASURED, async (t) => {
  const { grownBytes, isSame, record } = await measurePassThrough(t, {
    head: GZIP,
    chunks: repeat(BOMB, 1024),
  });
  assert.ok(isSame && grownBytes < MAX_GROWTH_BYTES, `${grownBytes / MIB} MiB`);
  assert.deepEqual(
    [record?.outcome, record?.usage, record?.tokens, record?.flags.includes("decode_failed")],
    ["completed", "absent", null, true],
  );
});

test("a zstd bomb of a gigabyte is not decompressed, and its usage is absent", MEASURED, async (t) => {
  // 8 KiB each decode to 256 MiB.
  const chunks = [zstdZeros(2048), ...repeat(zstdZeros(2048).subarray(ZSTD_HEAD_BYTES), 3)];
  const head = { ...JSON_HEAD, "content-encoding": "zstd" };
  const { grownBytes, isSame, record } = await measurePassThrough(t, { head, chunks });
  assert.ok(isSame && grownBytes < MAX_GROWTH_BYTES, `${grownBytes / MIB} MiB`);
  assert.deepEqual(
    [record?.outcome, record?.usage, record?.tokens, record?.flags.includes("decode_failed")],
    ["completed", "absent", null, true],
  );
});

test("a zstd response with a window that a response may not have is not decoded", LIMIT, async (t) => {
  const body = zstdWindow(27, JSON.stringify(MESSAGE));
  const record = await passThrough(t, { ...JSON_HEAD, "content-encoding": "zstd" }, [body]);
  assert.deepEqual([record.outcome, record.usage, record.flags], ["completed", "absent", ["decode_failed"]]);
});

test("a gzip bomb in an error is not decompressed, and the error loses its body", MEASURED, async (t) => {
  // Short enough to be held back and searched for the key.
  const chunks = repeat(BOMB, Math.floor(MIB / BOMB.length));
  const { grownBytes, received } = await measurePassThrough(t, { status: 400, head: GZIP, chunks });
  assert.ok(grownBytes < MAX_GROWTH_BYTES, `${grownBytes / MIB} MiB`);
  assert.deepEqual([received.status, received.bytes], [400, 0]);
});

test("a compressed error of 200 MiB is not kept in memory, and loses its body", MEASURED, async (t) => {
  const response = { status: 400, head: GZIP, chunks: repeat(randomBytes(MIB), 200) };
  const { grownBytes, received } = await measurePassThrough(t, response);
  assert.ok(grownBytes < MAX_GROWTH_BYTES, `${grownBytes / MIB} MiB`);
  assert.deepEqual([received.status, received.bytes], [400, 0]);
});

for (const encoding of ["gzip", "br", "deflate", "zstd", "x-unknown", "gzip, gzip"]) {
  test(`data that is not valid ${encoding} passes unchanged, and its usage is absent`, LIMIT, async (t) => {
    const body = Buffer.from("this is not compressed at all");
    const record = await passThrough(t, { ...JSON_HEAD, "content-encoding": encoding }, [body]);
    assert.deepEqual(
      [record.outcome, record.usage, record.tokens, record.flags.includes("decode_failed")],
      ["completed", "absent", null, true],
    );
  });
}

const ENDLESS: [what: string, head: string, filler: string][] = [
  ["line", "data: ", "x"],
  ["event of many lines", "", "data: 1\n"],
  ["comment", ":", "x"],
  ["number", `data: {"type":"message_delta","usage":{"output_tokens":`, "1"],
  ["nest", `data: {"type":"message_delta","usage":`, `{"a":[`],
];

for (const [what, head, filler] of ENDLESS) {
  test(`an endless ${what} takes no memory, and the usage before it is recorded`, LIMIT, async (t) => {
    const chunk = Buffer.alloc(MIB, filler);
    let grown = 0;
    function* chunks(): Iterable<Buffer> {
      yield Buffer.from(MESSAGE_EVENTS[0] + head);
      yield* repeat(chunk, 4);
      const before = measureUsedMemory();
      yield* repeat(chunk, 40);
      grown = measureUsedMemory() - before;
    }
    const record = await passThrough(t, SSE_HEAD, chunks());
    assert.ok(grown < MAX_BUFFERED_BYTES, `${grown / MIB} MiB`);
    assert.deepEqual([record.outcome, record.usage, record.tokens?.input_total], ["cut", "partial", 3]);
  });
}

test("usage after an event of 8 MiB is read", LIMIT, async (t) => {
  const text = JSON.stringify({ type: "content_block_delta", delta: { text: "x".repeat(8 * MIB) } });
  const events = [
    MESSAGE_EVENTS[0],
    `event: content_block_delta\ndata: ${text}\n\n`,
    ...MESSAGE_EVENTS.slice(2),
  ];
  const record = await passThrough(t, SSE_HEAD, [Buffer.from(events.join(""))]);
  assert.deepEqual([record.outcome, record.usage, record.tokens?.output], ["completed", "final", 2]);
});

for (const [what, opening] of [
  ["arrays", "["],
  ["objects", `{"a":`],
  ["usage objects", `{"usage":`],
] as const) {
  test(`a response of a million nested ${what} passes and has no usage`, LIMIT, async (t) => {
    const record = await passThrough(t, JSON_HEAD, [Buffer.alloc(1_000_000 * opening.length, opening)]);
    assert.deepEqual([record.outcome, record.tokens], ["completed", null]);
  });
}

test("usage that nests as deep as its length allows is not recorded", LIMIT, async (t) => {
  const nest = "[".repeat(30_000) + "]".repeat(30_000);
  const record = await passThrough(t, JSON_HEAD, [
    Buffer.from(`{"id":"m","usage":{"input_tokens":${nest}}}`),
  ]);
  assert.deepEqual([record.outcome, record.tokens, record.raw_usage], ["completed", null, null]);
});

const ODD_NUMBERS = [
  "-1",
  "1.5",
  "1e400",
  "-1e400",
  "9007199254740992",
  "1e-5",
  `"3"`,
  `"NaN"`,
  "null",
  "true",
  "[3]",
  "{}",
  `""`,
] as const;

for (const odd of ODD_NUMBERS) {
  test(`a token count of ${odd} is not recorded`, LIMIT, async (t) => {
    const usage = `{"input_tokens":${odd},"cache_read_input_tokens":${odd},"output_tokens":2}`;
    const record = await passThrough(t, JSON_HEAD, [
      Buffer.from(`{"id":"m","type":"message","usage":${usage}}`),
    ]);
    assert.deepEqual([record.usage, record.tokens?.output, record.tokens?.total], ["partial", 2, 2]);
    assertSafe(record);
  });
}

for (const notJson of ["NaN", "Infinity", "0x10", "01", "+1", "1_000", "undefined", "'3'"]) {
  test(`a token count of ${notJson}, which is not JSON, yields no unsafe number`, LIMIT, async (t) => {
    const body = `{"id":"m","type":"message","usage":{"input_tokens":${notJson},"output_tokens":2}}`;
    assertSafe(await passThrough(t, JSON_HEAD, [Buffer.from(body)]));
  });
}

/** Fails unless every count is a safe, non-negative integer and the total is the sum of its parts. */
function assertSafe({ tokens, extra }: UsageRecord): void {
  for (const set of [tokens ?? {}, ...extra]) {
    for (const [name, count] of Object.entries(set)) {
      if (typeof count === "number")
        assert.ok(Number.isSafeInteger(count) && count >= 0, `${name}: ${count}`);
    }
  }
  if (tokens !== null) assert.equal(tokens.total, tokens.input_total + tokens.output);
}

const UNKNOWN = Array.from({ length: 1000 }, (_, i) => `,"x${i}":${i}`).join("");

for (const [what, usage] of [
  [
    "duplicate names, of which the last one counts,",
    `{"input_tokens":1,"input_tokens":3,"output_tokens":9,"output_tokens":2}`,
  ],
  [
    "a prototype",
    `{"__proto__":{"input_tokens":9},"constructor":{"prototype":{"x":1}},"input_tokens":3,"output_tokens":2}`,
  ],
  ["names written in escapes", `{"\\u0069nput_tokens":3,"output\\u005ftokens":2}`],
  ["1 000 unknown names", `{"input_tokens":3,"output_tokens":2${UNKNOWN}}`],
] as const) {
  test(`usage with ${what} is read`, LIMIT, async (t) => {
    const record = await passThrough(t, JSON_HEAD, [
      Buffer.from(`{"id":"m","type":"message","usage":${usage}}`),
    ]);
    assert.deepEqual([record.tokens?.input_total, record.tokens?.output], [3, 2]);
    assert.equal(Reflect.get({}, "x"), undefined);
    assertSafe(record);
  });
}

test("usage between bytes that are not UTF-8 is read", LIMIT, async (t) => {
  const [start, end] = JSON.stringify({ ...MESSAGE, model: "m?" }).split("?");
  const body = Buffer.concat([
    Buffer.from(start ?? ""),
    Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0]),
    Buffer.from(end ?? ""),
  ]);
  const record = await passThrough(t, JSON_HEAD, [body]);
  assert.deepEqual([record.tokens?.input_total, record.tokens?.output], [3, 2]);
  assert.match(record.model ?? "", /^m\ufffd+$/);
});
