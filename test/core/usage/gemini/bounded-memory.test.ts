import assert from "node:assert/strict";
import { test } from "node:test";
import { createMeter } from "../../../../src/core/usage/meter.ts";
import type { MeterSetup } from "../../../../src/core/usage/meter.ts";
import { measureUsedMemory } from "../../../helpers/process/used-memory.ts";
import { jsonSetup, setup } from "../response-bodies.ts";
import { feedRepeatedly, MAX_RETAINED_BYTES } from "../retained.ts";

const MIB = 1024 * 1024;
const STREAM = setup({ dialect: "gemini" });
const JSON_BODY = jsonSetup({ dialect: "gemini" });

/** Makes a filler as long as a power of two, so that it fits into the chunks. */
function padded(text: string, length: number): string {
  return text.padEnd(length);
}

const ENDLESS: [what: string, MeterSetup, head: string, filler: string][] = [
  ["list of chunks", JSON_BODY, "[", padded('{"usageMetadata":{"promptTokenCount":1}},', 64)],
  ["element of a list", JSON_BODY, '[{"candidates":[{"content":{"parts":[{"text":"', "x"],
  ["list of candidates", JSON_BODY, '{"candidates":[', padded('{"finishReason":"STOP"},', 32)],
  ["list of parts", STREAM, 'data: {"candidates":[{"content":{"parts":[', padded('{"text":"a"},', 16)],
  ["usage object", JSON_BODY, '[{"usageMetadata":{"a":["', 'x","'],
  ["list of queries", JSON_BODY, '[{"candidates":[{"groundingMetadata":{"webSearchQueries":["', 'a","'],
  ["error without a field", STREAM, '{\n"error": {\n', padded('"message": "x",', 15) + "\n"],
  ["line without a field", STREAM, '{"', "x"],
  ["run of lines within an object", STREAM, "data: {}\n\n{\n", "\t\n"],
  ["list of numbers", JSON_BODY, "[", "1,"],
  ["list of lists", JSON_BODY, "[", "[],["],
  ["list of predictions", JSON_BODY, '{"predictions":[', padded('{"embeddings":{}},', 32)],
];

for (const [what, changes, head, filler] of ENDLESS) {
  test(`retains nothing of an endless ${what} of Google's API`, () => {
    const { retained, reading } = feedRepeatedly(changes, head, filler, 16 * MIB);
    assert.ok(retained < MAX_RETAINED_BYTES, `${retained} bytes`);
    assert.notEqual(reading.usage, "final");
  });
}

test("retains little of 100,000 chunks that each have searched for something else", () => {
  const meter = createMeter(STREAM);
  const before = measureUsedMemory();
  for (let i = 0; i < 100_000; i++) {
    const data = { candidates: [{ groundingMetadata: { webSearchQueries: [`query number ${i}`] } }] };
    meter.feed(Buffer.from(`data: ${JSON.stringify(data)}\n\n`));
  }
  const retained = measureUsedMemory() - before;
  assert.ok(retained < MAX_RETAINED_BYTES, `${retained} bytes`);
  assert.deepEqual(meter.finish(true).flags, ["extra_cut_short"]);
});
