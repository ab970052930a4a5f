// The meter of a turn of Google's Live API. The counts are those of sessions that pydantic/pydantic-ai has recorded (docs/wire.md section 12).
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { LiveEvents, readLiveFacts } from "../../../../src/core/usage/gemini/live-events.ts";
import { LiveTurnMeter } from "../../../../src/core/usage/gemini/live-turn-meter.ts";

const TEXT = { serverContent: { modelTurn: { parts: [{ text: "One sentence of some words." }] } } };
const END = { serverContent: { turnComplete: true } };

/** Meters a turn from messages that are cut into pieces of this size. */
function meter(messages: readonly object[], hasEnded = true, size = 7) {
  const events = new LiveEvents();
  const turn = new LiveTurnMeter();
  for (const message of messages) {
    const bytes = Buffer.from(JSON.stringify(message));
    for (let at = 0; at < bytes.length; at += size) events.feed(bytes.subarray(at, at + size));
    const event = events.end();
    assert.ok(event);
    turn.add(event);
  }
  return turn.read(hasEnded);
}

for (const [name, usage, input, output, reasoning, flags] of [
  [
    "text and sound",
    { promptTokenCount: 1185, responseTokenCount: 51, totalTokenCount: 1236 },
    1185,
    51,
    null,
    [],
  ],
  [
    "thoughts that the total leaves out",
    { promptTokenCount: 1197, responseTokenCount: 37, totalTokenCount: 1234, thoughtsTokenCount: 28 },
    1197,
    65,
    28,
    [],
  ],
  [
    "more thoughts than output",
    { promptTokenCount: 417, responseTokenCount: 74, totalTokenCount: 491, thoughtsTokenCount: 77 },
    417,
    151,
    77,
    [],
  ],
  [
    "thoughts in the total",
    { promptTokenCount: 10, responseTokenCount: 5, totalTokenCount: 18, thoughtsTokenCount: 3 },
    10,
    8,
    3,
    [],
  ],
  ["no output", { promptTokenCount: 187, totalTokenCount: 187 }, 187, 0, null, []],
  ["Vertex's names", { promptTokenCount: 24, candidatesTokenCount: 5, totalTokenCount: 29 }, 24, 5, null, []],
  [
    "tools and a cache",
    {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      toolUsePromptTokenCount: 30,
      responseTokenCount: 20,
      totalTokenCount: 150,
    },
    130,
    20,
    null,
    [],
  ],
  [
    "details that say more than there is",
    {
      promptTokenCount: 50,
      responseTokenCount: 5,
      totalTokenCount: 55,
      responseTokensDetails: [{ modality: "AUDIO", tokenCount: 50 }],
    },
    50,
    5,
    null,
    ["details_exceed"],
  ],
] as const)
  test(`a turn with ${name} is counted`, () => {
    const reading = meter([TEXT, { ...END, usageMetadata: usage }]);
    assert.deepEqual(
      [reading.tokens?.input_total, reading.tokens?.output, reading.tokens?.reasoning, reading.flags],
      [input, output, reasoning, flags],
    );
    assert.deepEqual([reading.usage, reading.outcome, reading.stop], ["final", "completed", "STOP"]);
    assert.deepEqual(reading.raw_usage, usage);
  });

test("of several usages of one turn the last one counts", () => {
  const first = { promptTokenCount: 10, responseTokenCount: 1, totalTokenCount: 11 };
  const last = { promptTokenCount: 10, responseTokenCount: 9, totalTokenCount: 19 };
  const { tokens } = meter([
    { ...TEXT, usageMetadata: first },
    { ...END, usageMetadata: last },
  ]);
  assert.deepEqual([tokens?.input_total, tokens?.output], [10, 9]);
});

test("a turn without usage has none, and one that is cut has an estimate of its text", () => {
  const [whole, cut] = [meter([TEXT, END]), meter([TEXT], false)];
  assert.deepEqual(
    [whole.outcome, whole.usage, whole.tokens, whole.spend],
    ["completed", "absent", null, "never"],
  );
  assert.deepEqual([cut.outcome, cut.usage], ["cut", "absent"]);
  assert.ok((cut.output_estimate ?? 0) > 3);
});

const stopOf = (...contents: object[]) => meter(contents.map((serverContent) => ({ serverContent }))).stop;

test("what interrupts a turn, and why it ended otherwise, is its stop", () => {
  assert.equal(stopOf({ interrupted: true }, { turnComplete: true }), "INTERRUPTED");
  assert.equal(stopOf({ turnComplete: true, turnCompleteReason: "RESPONSE_REJECTED" }), "RESPONSE_REJECTED");
  assert.equal(
    stopOf({ turnComplete: true, turnCompleteReason: "TURN_COMPLETE_REASON_UNSPECIFIED" }),
    "STOP",
  );
});

const search = (...webSearchQueries: string[]) => ({
  serverContent: { groundingMetadata: { webSearchQueries } },
});

test("searches are counted, each once", () => {
  const { server_tools: tools } = meter([search("tolls"), search("tolls", "keepers", ""), END]);
  assert.deepEqual(tools, { web_search: 2 });
});

const isOfTurn = (message: object) => {
  const events = new LiveEvents();
  events.feed(Buffer.from(JSON.stringify(message)));
  const event = events.end();
  return event !== null && readLiveFacts(event).isOfTurn;
};

test("what begins no turn is told from what does", () => {
  for (const message of [
    {},
    { setupComplete: {} },
    { sessionResumptionUpdate: { newHandle: "h" } },
    { goAway: { timeLeft: "10s" } },
    { serverContent: { inputTranscription: { text: "hello" } } },
    { serverContent: { turnComplete: true } },
    { usageMetadata: { trafficType: "ON_DEMAND" } },
  ])
    assert.equal(isOfTurn(message), false, JSON.stringify(message));
  for (const message of [
    TEXT,
    { toolCall: { functionCalls: [] } },
    { serverContent: { outputTranscription: {} } },
    { usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 } },
  ])
    assert.equal(isOfTurn(message), true, JSON.stringify(message));
});

test("a message that is no JSON is no event, and hides none after it", () => {
  const events = new LiveEvents();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      events.feed(Buffer.from(bytes));
      events.end();
      events.feed(Buffer.from(JSON.stringify(END)));
      assert.equal(events.end()?.isTerminal, true);
    }),
  );
});
