import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { createResponseMeter } from "../../../src/proxy/exchange/response-meter.ts";
import { createRandom, meterChunks, randomPieces } from "../../core/usage/corpus.ts";
import {
  GEMINI_MISSING,
  geminiSetup,
  listGemini,
  readGemini,
  wasBroken,
} from "../../core/usage/gemini/gemini-corpus.ts";
import { zstdFrame } from "../../helpers/upstream/zstd-frames.ts";

const skip = GEMINI_MISSING ?? false;

const ENCODINGS: [encoding: string, compress: (body: Buffer) => Buffer][] = [
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
  ["zstd", zstdFrame],
  ["deflate", deflateSync],
];

async function meterCompressed(
  setup: MeterSetup,
  encoding: string,
  pieces: Iterable<Buffer>,
  isWhole: boolean,
): Promise<MeterReading> {
  const meter = createResponseMeter(setup, encoding);
  // The decoder keeps what it is given, so each piece is a copy.
  for (const piece of pieces) meter.feed(Buffer.from(piece));
  return meter.finish(isWhole);
}

for (const [encoding, compress] of ENCODINGS) {
  test(`meters bodies of Google's API in ${encoding} as it does without an encoding`, { skip }, async () => {
    for (const file of listGemini()) {
      const body = readGemini(file);
      const isWhole = !wasBroken(file);
      const setup = geminiSetup(file);
      const expected = meterChunks(setup, [body], isWhole);
      const compressed = compress(body);
      for (const longest of [7, 64, compressed.length]) {
        const pieces = randomPieces(compressed, longest, createRandom(longest));
        assert.deepEqual(await meterCompressed(setup, encoding, pieces, isWhole), expected, file.file);
      }
    }
  });
}
