import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterReading } from "../../../../src/core/usage/reading.ts";
import { createRandom, meterChunks, randomPieces, singleBytes } from "../corpus.ts";
import { assertInvariants } from "../invariants.ts";
import { setup } from "../response-bodies.ts";
import { FOUND_BODIES } from "./found-bodies.ts";

for (const { source, contentType, body, counts, reading: expected } of FOUND_BODIES) {
  test(`reads ${source}`, () => {
    const under = setup({ dialect: "gemini", contentType });
    const bytes = Buffer.from(body);
    const reading = meterChunks(under, [bytes]);
    assertInvariants(reading);
    const { tokens } = reading;
    assert.deepEqual(
      [tokens?.input_uncached, tokens?.cache_read, tokens?.output, tokens?.reasoning, tokens?.total],
      counts,
    );
    assert.equal(reading.usage, "final");
    for (const [name, value] of Object.entries(expected))
      assert.deepEqual(reading[name as keyof MeterReading], value, name);
    assert.deepEqual(meterChunks(under, singleBytes(bytes)), reading);
    for (let seed = 1; seed <= 8; seed++)
      assert.deepEqual(meterChunks(under, randomPieces(bytes, 4 ** (seed % 5), createRandom(seed))), reading);
  });
}
