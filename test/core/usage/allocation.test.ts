import assert from "node:assert/strict";
import { test } from "node:test";
import { createMeter } from "../../../src/core/usage/meter.ts";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import { measureUsed } from "../../helpers/process/used-memory.ts";
import { setup, stream } from "./answers.ts";

/** What V8 makes of the code at first allocates by itself; when it is compiled for good is for V8 to say. */
const WARM_UP_EVENTS = 100_000;
const TRIES = 20;
/** So few that, should they all leave garbage behind, it is not collected before it is counted. */
const EVENTS = 2_000;
/** One small object, or a view of a buffer, per event is more. */
const MOST_BYTES = 16 * EVENTS;

/** The fewest bytes that so many of these chunks, fed in turn, leave on the heap and in buffers. */
function allocatedBy(under: MeterSetup, chunks: readonly Buffer[]): number {
  const meter = createMeter(under);
  const feed = (count: number): void => {
    for (let i = 0; i < count; i++) meter.feed(chunks[i % chunks.length] ?? Buffer.alloc(0));
  };
  let fewest = Infinity;
  for (let attempt = 0; attempt < TRIES && fewest > MOST_BYTES; attempt++) {
    feed(WARM_UP_EVENTS);
    const before = measureUsed();
    feed(EVENTS);
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    fewest = Math.min(fewest, heapUsed + arrayBuffers - before);
  }
  return fewest;
}

const MESSAGES_EVENT = Buffer.from(
  `event: content_block_delta\n${stream([{ type: "content_block_delta", index: 0, delta: { text: "a" } }])}`,
);
const RESPONSES_EVENT = Buffer.from(stream([{ type: "response.output_text.delta", delta: "a" }]));

const CASES: [what: string, MeterSetup, Buffer[]][] = [
  ["Messages events", setup(), [MESSAGES_EVENT]],
  ["Responses events", setup({ dialect: "responses" }), [RESPONSES_EVENT]],
  ["events cut in two", setup(), [MESSAGES_EVENT.subarray(0, 40), MESSAGES_EVENT.subarray(40)]],
];

for (const [what, under, chunks] of CASES) {
  test(`${what} without usage leave nothing to be collected`, () => {
    const allocated = allocatedBy(under, chunks);
    assert.ok(allocated <= MOST_BYTES, `${allocated} bytes for ${EVENTS} chunks`);
  });
}
