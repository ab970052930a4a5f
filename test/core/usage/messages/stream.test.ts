import assert from "node:assert/strict";
import { test } from "node:test";
import { nonZeroCounts, messageEvents, readBody, readUsages, setup, stream } from "../response-bodies.ts";

const START = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 3 };

test("replaces a count by a later one, even by zero after a compaction, but not by null", () => {
  const reading = readUsages([
    { input_tokens: 100, cache_read_input_tokens: 55096, cache_creation_input_tokens: 7, output_tokens: 35 },
    {
      input_tokens: 181,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: null,
      output_tokens: 40,
      iterations: [{ type: "message" }],
    },
    { output_tokens: 8 },
  ]);
  assert.deepEqual(nonZeroCounts(reading), {
    input_uncached: 181,
    cache_write: 7,
    cache_write_ttl_unknown: 7,
    output: 8,
  });
  assert.equal(reading.tokens?.total, 196);
  assert.equal(reading.usage, "final");
});

test("merges usage members named like inherited properties, and drops those through which a prototype could be reached", () => {
  const events = [
    '{"type":"message_start","message":{"usage":{"input_tokens":1,"__proto__":{"n":1},"constructor":2}}}',
    '{"type":"message_delta","usage":{"__proto__":{"n":2},"toString":3}}',
  ];
  const { raw_usage } = readBody(events.map((event) => `data: ${event}\n\n`).join(""), setup());
  const expected = '{"input_tokens":1,"toString":3}';
  assert.equal(JSON.stringify(raw_usage), expected);
  assert.deepEqual(raw_usage, JSON.parse(expected));
});

test("never replaces a count by a value that is not a count", () => {
  const reading = readUsages([START, { input_tokens: "99", output_tokens: 4 }]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 10, cache_read: 5, output: 4 });
  for (const value of [1.5, -1, 1e12 + 1, 2 ** 53, "7", true, {}, [1]]) {
    assert.equal(
      readUsages([{ input_tokens: value }, { output_tokens: value }]).tokens,
      null,
      JSON.stringify(value),
    );
  }
});

test("ignores zeros in all three input counts, and flags them", () => {
  const zeros = {
    input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 9,
  };
  const reading = readUsages([START, zeros]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 10, cache_read: 5, output: 9 });
  assert.deepEqual(reading.raw_usage, { ...START, cache_creation_input_tokens: 0, output_tokens: 9 });
  assert.deepEqual(reading.flags, ["delta_zero_placeholder"]);
});

test("accepts zeros in all three input counts with iterations, as after a compaction", () => {
  const usage = {
    input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 9,
    iterations: [{ type: "message" }],
  };
  const reading = readUsages([START, usage]);
  assert.deepEqual(nonZeroCounts(reading), { output: 9 });
  assert.deepEqual(reading.flags, []);
});

test("takes the input of a delta that follows one with zeros", () => {
  const reading = readUsages([
    START,
    { input_tokens: 0, cache_read_input_tokens: 0 },
    { input_tokens: 12, output_tokens: 1 },
  ]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 12, cache_read: 5, output: 1 });
});

test("ignores a second start of the same message after later counts", () => {
  const [start, ...rest] = messageEvents([START, { output_tokens: 20 }]);
  const events = [start, rest[0], start, rest[1]].map((event) => event ?? {});
  const reading = readBody(stream(events), setup());
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 10, cache_read: 5, output: 20 });
  assert.deepEqual(reading.flags, ["duplicate_message_start"]);
});

test("replaces the first message when another one starts", () => {
  const events = [
    ...messageEvents([START, { output_tokens: 20 }]).slice(0, 2),
    {
      type: "message_start",
      message: { id: "msg_2", model: "m2", usage: { input_tokens: 1, output_tokens: 1 } },
    },
  ];
  const reading = readBody(stream(events), setup(), false);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 1, output: 1 });
  assert.deepEqual([reading.response_id, reading.model, reading.outcome], ["msg_2", "m2", "cut"]);
});

test("maps each stop reason to its outcome, and unknown ones to completed", () => {
  const outcomes = {
    end_turn: "completed",
    stop_sequence: "completed",
    tool_use: "completed",
    something_new: "completed",
    max_tokens: "incomplete",
    model_context_window_exceeded: "incomplete",
    refusal: "refused",
    pause_turn: "paused",
    compaction: "paused",
  };
  for (const [stop, outcome] of Object.entries(outcomes)) {
    const reading = readBody(stream(messageEvents([START, { output_tokens: 1 }], stop)), setup());
    assert.deepEqual([reading.stop, reading.outcome, reading.usage], [stop, outcome, "final"]);
  }
});

test("reads a stream that ends before its stop reason as cut and a lower bound, even when it ends cleanly", () => {
  const [start] = messageEvents([START]);
  const reading = readBody(stream([start ?? {}, { type: "ping" }]), setup(), true);
  assert.deepEqual([reading.outcome, reading.usage, reading.spend], ["cut", "partial", "count"]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 10, cache_read: 5, output: 3 });
});

test("reports a lower bound for a complete stream without a final output count", () => {
  const reading = readBody(stream(messageEvents([START, {}])), setup());
  assert.deepEqual([reading.outcome, reading.usage], ["completed", "partial"]);
});

test("reports a lower bound for output without any input count", () => {
  const reading = readUsages([{}, { output_tokens: 4 }]);
  assert.deepEqual([reading.usage, nonZeroCounts(reading)], ["partial", { output: 4 }]);
});

test("reads a stream without stop reason as completed at message_stop", () => {
  const events = messageEvents([START, { output_tokens: 4 }]).map((event) => ({ ...event, delta: {} }));
  const reading = readBody(stream(events), setup());
  assert.deepEqual([reading.outcome, reading.stop, reading.usage], ["completed", null, "final"]);
});

test("ignores usage on unknown events and pings, wherever their type is", () => {
  const decoy = { usage: { input_tokens: 999, output_tokens: 999 } };
  const [start, delta, stop] = messageEvents([START, { output_tokens: 4 }]).map((event) => event ?? {});
  const decoys = [
    { type: "ping", ...decoy },
    { ...decoy, type: "some_future_event" },
    decoy,
    { message: decoy },
  ];
  const reading = readBody(stream([start ?? {}, ...decoys, delta ?? {}, ...decoys, stop ?? {}]), setup());
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 10, cache_read: 5, output: 4 });
  assert.deepEqual(reading.flags, []);
});

test("takes the event type from the event field only when the data has none", () => {
  const events = [
    'event: message_start\ndata: {"message":{"id":"msg_1","usage":{"input_tokens":1}}}\n\n',
    'event: message_delta\ndata: {"type":"ping","usage":{"output_tokens":99}}\n\n',
    'event: ping\ndata: {"usage":{"output_tokens":2},"delta":{"stop_reason":"end_turn"},"type":"message_delta"}\n\n',
  ];
  assert.deepEqual(nonZeroCounts(readBody(events.join(""), setup())), { input_uncached: 1, output: 2 });
});

test("recognizes an event type that is written with escapes", () => {
  const [start, delta] = messageEvents([START, { output_tokens: 4 }]);
  const escaped = stream([delta ?? {}]).replace("message_delta", String.raw`message\u005fdelta`);
  assert.equal(readBody(stream([start ?? {}]) + escaped, setup()).usage, "final");
});

test("keeps tier, speed and geography of the start when a delta has null", () => {
  const given = { service_tier: "priority", speed: "fast", inference_geo: "us" };
  const missing = { service_tier: null, speed: null, inference_geo: null };
  const reading = readUsages([
    { ...START, ...given },
    { ...missing, output_tokens: 1 },
  ]);
  assert.deepEqual([reading.service_tier, reading.speed, reading.inference_geo], ["priority", "fast", "us"]);
  assert.deepEqual(reading.raw_usage, { ...START, ...given, output_tokens: 1 });
});

test("takes the serving model from a fallback block, even when the stream is truncated after it", () => {
  const block = { type: "fallback", from: { model: "m" }, to: { model: "m-small" } };
  const tool = { type: "tool_use", to: { model: "no" } };
  const [start] = messageEvents([START]);
  const events = [block, tool].map((content_block, index) => ({
    type: "content_block_start",
    index,
    content_block,
  }));
  assert.equal(readBody(stream([start ?? {}, ...events]), setup(), false).model, "m-small");
});

test("keeps the start's usage after an error event in any form", () => {
  const [start] = messageEvents([START]);
  const errors = [
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    { type: "error", code: "overloaded_error", message: "Overloaded", param: null },
    { error: { message: "Overloaded", type: "overloaded_error", code: null } },
  ];
  for (const error of errors) {
    const reading = readBody(stream([start ?? {}, error]), setup());
    assert.deepEqual([reading.outcome, reading.error_type], ["error", "overloaded_error"]);
    assert.deepEqual([reading.usage, reading.spend], ["partial", "count"]);
  }
});

test("keeps outcome and usage when an error follows the final usage", () => {
  const events = [
    ...messageEvents([START, { output_tokens: 4 }]),
    { type: "error", error: { type: "api_error" } },
  ];
  const reading = readBody(stream(events), setup());
  assert.deepEqual([reading.outcome, reading.error_type, reading.usage], ["completed", "api_error", "final"]);
});

test("keeps the first 64 usage members of a stream, and still updates its counts", () => {
  const names = Array.from({ length: 500 }, (_, i) => ({ [`name_${i}`]: i }));
  const reading = readUsages([START, ...names, { output_tokens: 77 }]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 10, cache_read: 5, output: 77 });
  assert.equal(Object.keys(reading.raw_usage ?? {}).length, 64);
});
