// Messages that different readers could inflate differently: those that keep their state from one message to the next read other bytes
// in the next than those that do not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, deflateRawSync } from "node:zlib";
import { Inflater } from "../../../src/proxy/websocket/inflater.ts";
import { Compressor } from "../../helpers/client/compressor.ts";

const MOST = 1024 * 1024;

const HELLO = Buffer.from("hello");

/** A block that holds its bytes as they are, and says that they are so many (RFC 1951 section 3.2.4). */
function storedBlock(bytes: Buffer, announced: number, isLast = false): Buffer {
  const head = Buffer.from([isLast ? 1 : 0, 0, 0, 0, 0]);
  head.writeUInt16LE(announced, 1);
  head.writeUInt16LE(0xffff - announced, 3);
  return Buffer.concat([head, bytes]);
}

test("messages are inflated one after the other, and may refer to those before them as far back as 32 KiB", async () => {
  const compressor = new Compressor();
  const inflater = new Inflater(true);
  let bytes = 0;
  for (let round = 0; round < 40; round += 1) {
    const text = `{"round":${round},"instructions":"${"always the same ".repeat(round * 100)}"}`;
    const payload = await compressor.compress(text);
    bytes += payload.length;
    assert.equal(inflater.inflate([payload.subarray(0, 3), payload.subarray(3)], MOST).toString(), text);
  }
  assert.ok(bytes < 20_000, String(bytes));
  await compressor.close();
});

test("without context takeover a message that refers to an earlier one is invalid", async () => {
  const compressor = new Compressor();
  const inflater = new Inflater(false);
  const text = "a text that comes again, and again";
  assert.equal(inflater.inflate([await compressor.compress(text)], MOST).toString(), text);
  assert.equal(inflater.inflate([await compressor.compress(text)], MOST), "invalid");
  await compressor.close();
});

test("an empty message is one empty block", () => {
  assert.equal(new Inflater(true).inflate([Buffer.from([0])], MOST).toString(), "");
});

test("a message that becomes longer than it may be is too long, to the byte", () => {
  const payload = deflateRawSync(Buffer.alloc(MOST, " "), { finishFlush: constants.Z_SYNC_FLUSH }).subarray(
    0,
    -4,
  );
  assert.equal(new Inflater(true).inflate([payload], MOST).length, MOST);
  assert.equal(new Inflater(true).inflate([payload], MOST - 1), "too long");
});

const INVALID: [what: string, payload: Buffer][] = [
  ["what is not compressed", Buffer.from(`{"type":"response.create"}`)],
  ["nothing", Buffer.alloc(0)],
  ["a last block", deflateRawSync(HELLO)],
  ["a last block and an empty one", Buffer.concat([deflateRawSync(HELLO), Buffer.from([0])])],
  ["something after a last block", Buffer.concat([deflateRawSync(HELLO), deflateRawSync(HELLO)])],
  ["a block that goes on in the next message", storedBlock(HELLO, 500)],
  ["a block that goes on for as long as what we append", storedBlock(HELLO, HELLO.length + 25)],
  ["a last block that does so", storedBlock(HELLO, HELLO.length + 25, true)],
  ["a block whose length is in what every reader appends", Buffer.from([0, 0xff])],
  ["half of the head of a block", Buffer.from([0b100])],
];

for (const [what, payload] of INVALID) {
  test(`a message of ${what} is invalid`, () => {
    assert.equal(new Inflater(true).inflate([payload], MOST), "invalid");
  });
}

test("a message that is cut anywhere but between two blocks is invalid", async () => {
  const compressor = new Compressor();
  const whole = await compressor.compress(
    `{"type":"response.create","model":"gpt-5.5","input":"some words, some words"}`,
  );
  await compressor.close();
  for (let length = 0; length < whole.length; length += 1)
    assert.equal(new Inflater(true).inflate([whole.subarray(0, length)], MOST), "invalid", String(length));
});
