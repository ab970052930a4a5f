import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, messageEvents, readBody, readUsages, setup, stream } from "../answers.ts";

const START = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 3 };

test("a later number replaces the earlier one, zero included, and null does not", () => {
  const reading = readUsages([
    { input_tokens: 100, cache_read_input_tokens: 55096, cache_creation_input_tokens: 7, output_tokens: 35 },
    { input_tokens: 181, cache_read_input_tokens: 0, cache_creation_input_tokens: null, output_tokens: 40 },
    { output_tokens: 8 },
  ]);
  assert.deepEqual(counted(reading), {
    input_uncached: 181,
    cache_write: 7,
    cache_write_ttl_unknown: 7,
    output: 8,
  });
  assert.equal(reading.tokens?.total, 196);
  assert.equal(reading.usage, "final");
});

test("a usage's member that is named as what objects inherit is an ordinary one", () => {
  const events = [
    '{"type":"message_start","message":{"usage":{"input_tokens":1,"__proto__":{"n":1},"constructor":2}}}',
    '{"type":"message_delta","usage":{"__proto__":{"n":2},"toString":3}}',
  ];
  const { raw_usage } = readBody(events.map((event) => `data: ${event}\n\n`).join(""), setup());
  const expected = '{"input_tokens":1,"__proto__":{"n":2},"constructor":2,"toString":3}';
  assert.equal(JSON.stringify(raw_usage), expected);
  assert.deepEqual(raw_usage, JSON.parse(expected));
});

test("what is no count never replaces one", () => {
  const reading = readUsages([START, { input_tokens: "99", output_tokens: 4 }]);
  assert.deepEqual(counted(reading), { input_uncached: 10, cache_read: 5, output: 4 });
  for (const value of [1.5, -1, 1e12 + 1, 2 ** 53, "7", true, {}, [1]]) {
    assert.equal(
      readUsages([{ input_tokens: value }, { output_tokens: value }]).tokens,
      null,
      JSON.stringify(value),
    );
  }
});

test("zeros that fill all three inputs are not believed, and are flagged", () => {
  const zeros = {
    input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 9,
  };
  const reading = readUsages([START, zeros]);
  assert.deepEqual(counted(reading), { input_uncached: 10, cache_read: 5, output: 9 });
  assert.deepEqual(reading.raw_usage, { ...START, cache_creation_input_tokens: 0, output_tokens: 9 });
  assert.deepEqual(reading.flags, ["delta_zero_placeholder"]);
});

test("zeros that come with iterations are a compaction, and believed", () => {
  const usage = {
    input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 9,
    iterations: [{ type: "message" }],
  };
  const reading = readUsages([START, usage]);
  assert.deepEqual(counted(reading), { output: 9 });
  assert.deepEqual(reading.flags, []);
});

test("an input that one delta empties and the next one tells is told", () => {
  const reading = readUsages([
    START,
    { input_tokens: 0, cache_read_input_tokens: 0 },
    { input_tokens: 12, output_tokens: 1 },
  ]);
  assert.deepEqual(counted(reading), { input_uncached: 12, cache_read: 5, output: 1 });
});

test("a second start of the same message changes nothing that came later", () => {
  const [start, ...rest] = messageEvents([START, { output_tokens: 20 }]);
  const events = [start, rest[0], start, rest[1]].map((event) => event ?? {});
  const reading = readBody(stream(events), setup());
  assert.deepEqual(counted(reading), { input_uncached: 10, cache_read: 5, output: 20 });
  assert.deepEqual(reading.flags, ["duplicate_message_start"]);
});

test("the start of another message takes the place of the first", () => {
  const events = [
    ...messageEvents([START, { output_tokens: 20 }]).slice(0, 2),
    {
      type: "message_start",
      message: { id: "msg_2", model: "m2", usage: { input_tokens: 1, output_tokens: 1 } },
    },
  ];
  const reading = readBody(stream(events), setup(), false);
  assert.deepEqual(counted(reading), { input_uncached: 1, output: 1 });
  assert.deepEqual([reading.response_id, reading.model, reading.outcome], ["msg_2", "m2", "cut"]);
});

test("each stop reason has its outcome, and an unknown one is completed", () => {
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

test("a stream that ends before its stop reason is cut, even when it ends cleanly, and a lower bound", () => {
  const [start] = messageEvents([START]);
  const reading = readBody(stream([start ?? {}, { type: "ping" }]), setup(), true);
  assert.deepEqual([reading.outcome, reading.usage, reading.spend], ["cut", "partial", "count"]);
  assert.deepEqual(counted(reading), { input_uncached: 10, cache_read: 5, output: 3 });
});

test("a stream whose end tells no output claims no more than a lower bound", () => {
  const reading = readBody(stream(messageEvents([START, {}])), setup());
  assert.deepEqual([reading.outcome, reading.usage], ["completed", "partial"]);
});

test("output without any input is a lower bound", () => {
  const reading = readUsages([{}, { output_tokens: 4 }]);
  assert.deepEqual([reading.usage, counted(reading)], ["partial", { output: 4 }]);
});

test("message_stop ends a stream that gave no stop reason", () => {
  const events = messageEvents([START, { output_tokens: 4 }]).map((event) => ({ ...event, delta: {} }));
  const reading = readBody(stream(events), setup());
  assert.deepEqual([reading.outcome, reading.stop, reading.usage], ["completed", null, "final"]);
});

test("a usage on an unknown event or a ping is a decoy, wherever its type stands", () => {
  const decoy = { usage: { input_tokens: 999, output_tokens: 999 } };
  const [start, delta, stop] = messageEvents([START, { output_tokens: 4 }]).map((event) => event ?? {});
  const decoys = [
    { type: "ping", ...decoy },
    { ...decoy, type: "some_future_event" },
    decoy,
    { message: decoy },
  ];
  const reading = readBody(stream([start ?? {}, ...decoys, delta ?? {}, ...decoys, stop ?? {}]), setup());
  assert.deepEqual(counted(reading), { input_uncached: 10, cache_read: 5, output: 4 });
  assert.deepEqual(reading.flags, []);
});

test("the event field names an event whose data does not, and loses against data that does", () => {
  const events = [
    'event: message_start\ndata: {"message":{"id":"msg_1","usage":{"input_tokens":1}}}\n\n',
    'event: message_delta\ndata: {"type":"ping","usage":{"output_tokens":99}}\n\n',
    'event: ping\ndata: {"usage":{"output_tokens":2},"delta":{"stop_reason":"end_turn"},"type":"message_delta"}\n\n',
  ];
  assert.deepEqual(counted(readBody(events.join(""), setup())), { input_uncached: 1, output: 2 });
});

test("a type that is written with escapes is the same type", () => {
  const [start, delta] = messageEvents([START, { output_tokens: 4 }]);
  const escaped = stream([delta ?? {}]).replace("message_delta", String.raw`message\u005fdelta`);
  assert.equal(readBody(stream([start ?? {}]) + escaped, setup()).usage, "final");
});

test("tier, speed, geography and served model come from where they are said last", () => {
  const said = { service_tier: "priority", speed: "fast", inference_geo: "us" };
  const unsaid = { service_tier: null, speed: null, inference_geo: null };
  const reading = readUsages([
    { ...START, ...said },
    { ...unsaid, output_tokens: 1 },
  ]);
  assert.deepEqual([reading.service_tier, reading.speed, reading.inference_geo], ["priority", "fast", "us"]);
  assert.deepEqual(reading.raw_usage, { ...START, ...said, output_tokens: 1 });
});

test("a fallback block tells the model that serves, also when the stream is cut after it", () => {
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

test("an error event keeps what the start gave, in either shape", () => {
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

test("an error after the final usage does not take it back", () => {
  const events = [
    ...messageEvents([START, { output_tokens: 4 }]),
    { type: "error", error: { type: "api_error" } },
  ];
  const reading = readBody(stream(events), setup());
  assert.deepEqual([reading.outcome, reading.error_type, reading.usage], ["completed", "api_error", "final"]);
});

test("a stream that says ever new names keeps the first, and its counts go on", () => {
  const names = Array.from({ length: 500 }, (_, i) => ({ [`name_${i}`]: i }));
  const reading = readUsages([START, ...names, { output_tokens: 77 }]);
  assert.deepEqual(counted(reading), { input_uncached: 10, cache_read: 5, output: 77 });
  assert.equal(Object.keys(reading.raw_usage ?? {}).length, 64);
});
