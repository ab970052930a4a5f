import assert from "node:assert/strict";
import { test } from "node:test";
import { createMeter, type MeterSetup } from "../../../src/core/usage/meter.ts";
import { measureUsedMemory } from "../../helpers/process/used-memory.ts";
import { setup, stream } from "./response-bodies.ts";

/** Unoptimized code allocates by itself, and V8 decides when to optimize. */
const WARM_UP_EVENTS = 100_000;
const TRIES = 20;
/** Few enough that their garbage would not be collected before it is measured. */
const EVENTS = 2_000;
/** Less than one small object, or one view of a buffer, per event. */
const MAX_BYTES = 16 * EVENTS;

/** Returns the fewest bytes that {@link EVENTS} of these chunks, fed in turn, leave on the heap and in buffers. */
function measureAllocation(meterSetup: MeterSetup, chunks: readonly Buffer[]): number {
  const meter = createMeter(meterSetup);
  const feed = (count: number): void => {
    for (let i = 0; i < count; i++) meter.feed(chunks[i % chunks.length] ?? Buffer.alloc(0));
  };
  let fewest = Infinity;
  for (let attempt = 0; attempt < TRIES && fewest > MAX_BYTES; attempt++) {
    feed(WARM_UP_EVENTS);
    const before = measureUsedMemory();
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

const CHAT_CHUNK = Buffer.from(
  stream([
    {
      id: "c",
      model: "m",
      choices: [{ index: 0, delta: { content: "a" }, finish_reason: null }],
      usage: null,
    },
  ]),
);

const CASES: [what: string, MeterSetup, Buffer[]][] = [
  ["Messages events", setup(), [MESSAGES_EVENT]],
  ["Responses events", setup({ dialect: "responses" }), [RESPONSES_EVENT]],
  ["chat chunks", setup({ dialect: "chat" }), [CHAT_CHUNK]],
  [
    "chat chunks cut in two",
    setup({ dialect: "chat" }),
    [CHAT_CHUNK.subarray(0, 40), CHAT_CHUNK.subarray(40)],
  ],
  ["events cut in two", setup(), [MESSAGES_EVENT.subarray(0, 40), MESSAGES_EVENT.subarray(40)]],
];

for (const [what, meterSetup, chunks] of CASES) {
  test(`allocates nothing for ${what} without usage`, () => {
    const allocated = measureAllocation(meterSetup, chunks);
    assert.ok(allocated <= MAX_BYTES, `${allocated} bytes for ${EVENTS} chunks`);
  });
}
