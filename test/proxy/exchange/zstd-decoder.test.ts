// The decoder that takes the place of zlib's on a Node without zstd. It runs on every Node, so each of them tests it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createZstdDecoder } from "../../../src/proxy/exchange/zstd-decoder.ts";
import { zstdFrame, zstdWindow, zstdZeros } from "../../helpers/upstream/zstd-frames.ts";

/** Lines of text in one frame, compressed by zstd 1.5 at level 19, with a checksum. */
const COMPRESSED = readFileSync(new URL("lines.zst", import.meta.url));
const LINES = Buffer.from(
  Array.from({ length: 20_000 }, (_, index) => `line ${(index * 7919) % 10_007}\n`).join(""),
);

/** Decodes pieces of `length` bytes. Returns the content and why the decoder ended. */
async function decode(
  body: Buffer,
  length = body.length,
): Promise<{ content: Buffer; error: string | null }> {
  const decoder = createZstdDecoder();
  const content: Buffer[] = [];
  decoder.on("data", (bytes: Buffer) => content.push(bytes));
  for (let at = 0; at < body.length; at += length) decoder.write(body.subarray(at, at + length));
  decoder.end();
  const error = await once(decoder, "end").then(
    () => null,
    (reason: Error) => reason.message,
  );
  return { content: Buffer.concat(content), error };
}

for (const length of [COMPRESSED.length, 1000, 1]) {
  test(`a compressed body in pieces of ${length} bytes is decoded`, async () => {
    const { content, error } = await decode(COMPRESSED, length);
    assert.equal(error, null);
    assert.ok(content.equals(LINES));
  });
}

test("all frames of a body are decoded, also around one that is to be skipped", async () => {
  const skipped = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
  const { content, error } = await decode(Buffer.concat([zstdFrame("a"), skipped, COMPRESSED]), 5);
  assert.deepEqual([content.length, error], [1 + LINES.length, null]);
});

test("content arrives with the block that holds it, before the body ends", async () => {
  const decoder = createZstdDecoder();
  decoder.write(zstdZeros(1));
  const [bytes] = (await once(decoder, "data")) as [Buffer];
  assert.equal(bytes.length, 128 * 1024);
  decoder.destroy();
});

test("a truncated body yields what it holds", async () => {
  const { content, error } = await decode(COMPRESSED.subarray(0, -5));
  assert.equal(error, null);
  assert.ok(content.length > 0 && LINES.subarray(0, content.length).equals(content));
});

test("bytes after the last frame are ignored", async () => {
  const { content, error } = await decode(Buffer.concat([zstdFrame("whole"), Buffer.from("\nand more")]));
  assert.deepEqual([content.toString(), error], ["whole", null]);
});

test("a wrong checksum, and bytes that are not zstd, are errors", async () => {
  const damaged = Buffer.from(COMPRESSED);
  damaged.fill(0, damaged.length - 4);
  assert.match((await decode(damaged)).error ?? "", /^not valid zstd/);
  assert.match((await decode(Buffer.from("not compressed at all"))).error ?? "", /^not valid zstd/);
});

test("a window of 8 MiB is decoded, and a larger one than a response may have is refused", async () => {
  assert.deepEqual(await decode(zstdWindow(23, "text")), { content: Buffer.from("text"), error: null });
  assert.deepEqual(await decode(zstdWindow(27, "text")), {
    content: Buffer.alloc(0),
    error: "too large a window",
  });
});

test("a small body that decodes to much lets other work have its turn", async () => {
  const decoder = createZstdDecoder();
  let decoded = 0;
  decoder.on("data", ({ length }: Buffer) => (decoded += length));
  decoder.write(zstdZeros(512));
  await once(decoder, "data");
  await new Promise(setImmediate);
  const inOneTurn = decoded;
  decoder.end();
  await once(decoder, "end");
  assert.ok(inOneTurn < decoded, `${inOneTurn} of ${decoded}`);
  assert.equal(decoded, 64 * 1024 * 1024);
});
