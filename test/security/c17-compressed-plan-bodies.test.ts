// C17, a compressed body of a plan that names one model to tollkeeper and another to its service: where a group names models, the whole of a
// decoded copy is read before anything leaves, and what decoders could read in two ways is refused. What leaves are the bytes that came.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { brotliCompressSync, crc32, deflateSync, gzipSync } from "node:zlib";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { withLimits, waitUntilHandled, type GateOptions } from "../helpers/gate/gate.ts";
import { CHATGPT_HEADERS, startGateWithPlans } from "../helpers/gate/gate-with-plans.ts";
import { sendJson } from "../helpers/upstream/scripted-upstream.ts";
import { ZSTD_HEAD_BYTES, zstdFrame, zstdWindow, zstdZeros } from "../helpers/upstream/zstd-frames.ts";

const CODEX = "/t/codex/plan/v1/responses";

/** What a frame of zstd may have in a body, and decoders skip. */
const SKIPPED = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

const namesModel = (model: string) => JSON.stringify({ model, input: "hello" });
const GOOD = namesModel("good");
const EVIL = namesModel("evil");

/** A gate at which the group of Codex may have `good` only. */
async function start(t: TestContext, options: GateOptions = {}) {
  const rules = { tools: { codex: { group: "small" } }, groups: { small: { models: ["good"] } } };
  const config = { ...rulesForTools(rules), ...options.config };
  return startGateWithPlans(t, (_seen, res) => sendJson(res, {}), { ...options, config });
}

type Started = Awaited<ReturnType<typeof start>>;

/** Sends a body, and returns the status, the refusal and its text. */
async function send({ gate }: Started, encoding: string, body: Buffer, path = CODEX) {
  const headers = { "content-type": "application/json", "content-encoding": encoding };
  const response = await fetch(gate.url + path, {
    method: "POST",
    headers: { ...CHATGPT_HEADERS, ...headers },
    body,
  });
  return [response.status, response.headers.get("x-tollkeeper-refusal"), await response.text()] as const;
}

for (const [encoding, body] of [
  ["zstd", zstdFrame(GOOD)],
  ["gzip", gzipSync(GOOD)],
  ["zstd", zstdFrame(JSON.stringify({ input: "x".repeat(900_000), model: "good" }))],
] as const) {
  test(`${body.length} bytes of ${encoding} that name an allowed model pass as they came, and the record has the model`, async (t) => {
    const started = await start(t);
    assert.deepEqual((await send(started, encoding, body)).slice(0, 2), [200, null]);
    const [seen] = started.service.seen;
    assert.deepEqual(seen?.body, body);
    assert.equal(seen?.headers["content-encoding"], encoding);
    await waitUntilHandled(started.gate);
    assert.deepEqual(
      started.gate.ledger.records.map(({ model_requested, bytes_in }) => [model_requested, bytes_in]),
      [["good", body.length]],
    );
    assert.equal(started.gate.gate.bufferedBytes, 0);
  });
}

test("another model is refused by its name, in zstd and in gzip", async (t) => {
  const started = await start(t);
  for (const [encoding, body] of [
    ["zstd", zstdFrame(EVIL)],
    ["gzip", gzipSync(EVIL)],
  ] as const) {
    const [status, code, text] = await send(started, encoding, body);
    assert.deepEqual([status, code], [400, "model_not_allowed"], text);
  }
  assert.equal(started.service.seen.length, 0);
});

/** Two members in one, of which the second has the size that both have together: it ends in what its size is said to be. */
function disguised(): Buffer {
  const [first, second] = [gzipSync(GOOD), gzipSync(EVIL)];
  const size = Buffer.alloc(4);
  size.writeUInt32LE(GOOD.length);
  return Buffer.concat([first, Buffer.alloc(4), second, size]);
}

/** Bodies that decoders could read in two ways, or that one could not bear: how each is encoded, and what the refusal says. */
const REFUSED: [what: string, encoding: string, body: Buffer, text: RegExp][] = [
  ["a second frame", "zstd", Buffer.concat([zstdFrame(GOOD), zstdFrame(EVIL)]), /follows|not one zstd frame/],
  ["a second frame of white space", "zstd", Buffer.concat([zstdFrame(GOOD), zstdFrame(" ")]), /not one zstd/],
  [
    "one text in two frames",
    "zstd",
    Buffer.concat([zstdFrame(GOOD.slice(0, 9)), zstdFrame(GOOD.slice(9))]),
    /not one/,
  ],
  [
    "a frame to be skipped before it",
    "zstd",
    Buffer.concat([SKIPPED, zstdFrame(GOOD)]),
    /not one zstd frame/,
  ],
  ["a frame to be skipped after it", "zstd", Buffer.concat([zstdFrame(GOOD), SKIPPED]), /not one zstd frame/],
  ["text after the frame", "zstd", Buffer.concat([zstdFrame(GOOD), Buffer.from(EVIL)]), /not one zstd frame/],
  ["a byte after the frame", "zstd", Buffer.concat([zstdFrame(GOOD), Buffer.from([0x28])]), /not one zstd/],
  [
    "a frame that is cut off",
    "zstd",
    zstdFrame(GOOD).subarray(0, -1),
    /not one zstd frame|not complete JSON/,
  ],
  ["the head of a frame", "zstd", zstdFrame(GOOD).subarray(0, ZSTD_HEAD_BYTES), /not one zstd frame/],
  ["nothing", "zstd", Buffer.alloc(0), /not one zstd frame/],
  ["text in place of zstd", "zstd", Buffer.from(GOOD), /not valid zstd/],
  ["a window of 128 MiB", "zstd", zstdWindow(27, GOOD), /too large a window/],
  ["two models", "zstd", zstdFrame(`{"model":"good","model":"evil"}`), /names two models/],
  [
    "two models, far apart",
    "zstd",
    zstdFrame(`{"model":"good","input":"${"x".repeat(700_000)}","model":"evil"}`),
    /names two models/,
  ],
  ["no model", "zstd", zstdFrame(`{"input":"hello"}`), /names no model/],
  ["zeros", "zstd", zstdZeros(9), /cannot be read/],
  ["a second member", "gzip", Buffer.concat([gzipSync(GOOD), gzipSync(EVIL)]), /follows|not one gzip member/],
  [
    "one text in two members",
    "gzip",
    Buffer.concat([gzipSync(GOOD.slice(0, 9)), gzipSync(GOOD.slice(9))]),
    /not one/,
  ],
  ["bytes after the member", "gzip", Buffer.concat([gzipSync(GOOD), Buffer.alloc(9)]), /not one gzip member/],
  ["a member behind zeros", "gzip", disguised(), /not one gzip member/],
  ["a member that is cut off", "gzip", gzipSync(GOOD).subarray(0, -1), /unexpected end/],
  ["a wrong checksum", "gzip", withWrongChecksum(gzipSync(GOOD)), /incorrect data check/],
  ["text in place of gzip", "gzip", Buffer.from(GOOD), /incorrect header/],
  ["nothing", "gzip", Buffer.alloc(0), /unexpected end/],
  ["another encoding", "br", brotliCompressSync(GOOD), /is compressed \(br\)/],
  ["an encoding with two meanings", "deflate", deflateSync(GOOD), /is compressed \(deflate\)/],
  ["two encodings", "gzip, zstd", zstdFrame(gzipSync(GOOD)), /is compressed \(gzip, zstd\)/],
  ["an encoding in capitals", "ZSTD", zstdFrame(GOOD), /is compressed \(ZSTD\)/],
];

function withWrongChecksum(member: Buffer): Buffer {
  const wrong = Buffer.from(member);
  wrong.writeUInt32LE((crc32(GOOD) ^ 1) >>> 0, wrong.length - 8);
  return wrong;
}

test("a compressed body that decoders could read in two ways is refused, and nothing of it has left", async (t) => {
  const started = await start(t);
  for (const [what, encoding, body, reason] of REFUSED) {
    const [status, code, text] = await send(started, encoding, body);
    assert.deepEqual([status, code], [400, "model_unreadable"], `${encoding}: ${what}: ${text}`);
    assert.match(text, reason, `${encoding}: ${what}`);
  }
  assert.deepEqual(
    [started.service.seen.length, started.asked(), started.gate.gate.bufferedBytes],
    [0, [], 0],
  );
});

test("a model in the query is refused beside a compressed body, too", async (t) => {
  const started = await start(t);
  const [status, code, text] = await send(started, "zstd", zstdFrame(GOOD), `${CODEX}?model=evil`);
  assert.deepEqual([status, code, started.service.seen.length], [400, "model_unreadable", 0], text);
});

test("a body that decodes to more than a body may have is stopped there, and refused with the setting", async (t) => {
  const started = await start(t, withLimits({ bodyBytes: 1_000_000 }));
  const long = `{"model":"good","input":"`;
  const bombs = [
    ["zstd", Buffer.concat([zstdFrame(long).subarray(0, ZSTD_HEAD_BYTES), ...spaces(4_000)])],
    ["gzip", gzipSync(" ".repeat(100_000_000))],
  ] as const;
  for (const [encoding, bomb] of bombs) {
    assert.ok(bomb.length < 200_000, `${bomb.length}`);
    const before = process.memoryUsage().arrayBuffers;
    const [status, code, text] = await send(started, encoding, bomb);
    assert.deepEqual([status, code], [400, "model_unreadable"], text);
    assert.match(text, /decodes to more than 1000000 bytes \(\\"limits\.bodyBytes\\"\)/);
    assert.ok(process.memoryUsage().arrayBuffers - before < 50_000_000, encoding);
  }
  assert.deepEqual([started.service.seen.length, started.gate.gate.bufferedBytes], [0, 0]);
});

/** Blocks of a frame, four bytes each, that decode to 128 KiB of spaces each. */
function spaces(blocks: number): Buffer[] {
  const block = Buffer.from(zstdZeros(1).subarray(ZSTD_HEAD_BYTES));
  block.writeUInt8(0x20, block.length - 1);
  return Array.from({ length: blocks }, () => block);
}

test("where no rule needs the model, a compressed body is not decoded", async (t) => {
  const started = await startGateWithPlans(t, (_seen, res) => sendJson(res, {}));
  const body = Buffer.concat([zstdFrame(GOOD), zstdFrame(EVIL)]);
  assert.deepEqual((await send(started, "zstd", body)).slice(0, 2), [200, null]);
  assert.deepEqual(started.service.seen[0]?.body, body);
});

test("where a key pays, a compressed body is refused as before", async (t) => {
  const started = await start(t);
  const headers = { "content-type": "application/json", "content-encoding": "zstd" };
  const response = await fetch(`${started.gate.url}/t/codex/v1/responses`, {
    method: "POST",
    headers,
    body: zstdFrame(GOOD),
  });
  assert.deepEqual(
    [response.status, response.headers.get("x-tollkeeper-refusal")],
    [400, "model_unreadable"],
  );
  assert.deepEqual([started.upstream.seen.length, started.gate.keys.reads], [0, 0]);
});
