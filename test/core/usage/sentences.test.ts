import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonSetup, readBody, readUsages, setup, stream } from "./response-bodies.ts";

const SENTENCE = "as you said: my password is 123";
const LONG = "x".repeat(65);
const COUNTS = { input_tokens: 3, output_tokens: 2 };

test("keeps the texts that services really send in their usage", () => {
  const usage = {
    ...COUNTS,
    service_tier: "standard",
    inference_geo: "us-east-1",
    cost: "0.00123",
    empty: "",
    iterations: [{ type: "message", model: "accounts/a/models/claude-x@2026:free+1" }],
  };
  assert.deepEqual(readUsages([usage]).raw_usage, usage);
});

for (const text of [SENTENCE, LONG, "two\nlines", "naïve"]) {
  test(`replaces ${JSON.stringify(text)} in a usage by null, and drops it as a name, at every depth`, () => {
    const usage = { ...COUNTS, note: text, [text]: 1, list: [text, { note: text, [text]: {}, n: 1 }] };
    const { raw_usage, tokens } = readBody({ usage, stop_reason: "end_turn" }, jsonSetup());
    assert.deepEqual(raw_usage, { ...COUNTS, note: null, list: [null, { note: null, n: 1 }] });
    assert.equal(tokens?.total, 5);
  });
}

for (const name of ["__proto__", "constructor", "prototype"]) {
  test(`drops a usage member called ${name} at every depth`, () => {
    const usage = JSON.parse(
      `{"input_tokens":3,"output_tokens":2,"${name}":1,"list":[{"${name}":{},"n":1}]}`,
    );
    const { raw_usage } = readBody({ usage, stop_reason: "end_turn" }, jsonSetup());
    assert.equal(JSON.stringify(raw_usage), '{"input_tokens":3,"output_tokens":2,"list":[{"n":1}]}');
  });
}

test("finds the only sentence in a usage at any position", () => {
  const cases: [usage: object, kept: object][] = [
    [{ note: SENTENCE }, { note: null }],
    [{ n: 1, [SENTENCE]: 1 }, { n: 1 }],
    [{ list: [1, [SENTENCE]] }, { list: [1, [null]] }],
    [{ list: [{ [SENTENCE]: 1 }] }, { list: [{}] }],
    [{ deep: { deeper: { note: SENTENCE } } }, { deep: { deeper: { note: null } } }],
  ];
  for (const [usage, kept] of cases) assert.deepEqual(readUsages([usage]).raw_usage, kept);
});

test("takes no sentence from a Messages usage into the fields of the reading", () => {
  const { service_tier, speed, inference_geo, extra, server_tools } = readUsages([
    {
      ...COUNTS,
      service_tier: SENTENCE,
      speed: SENTENCE,
      inference_geo: SENTENCE,
      iterations: [{ type: SENTENCE, model: SENTENCE, input_tokens: 1 }],
      server_tool_use: { [SENTENCE]: 1, web_search_requests: 2 },
    },
  ]);
  assert.deepEqual([service_tier, speed, inference_geo], [null, null, null]);
  assert.equal(JSON.stringify(extra).includes(SENTENCE), false);
  assert.deepEqual(server_tools, { web_search: 2 });
});

test("takes no sentence from a Responses body into tier, stop reason and tools", () => {
  const { service_tier, stop, server_tools, extra, raw_usage } = readBody(
    {
      status: "incomplete",
      service_tier: SENTENCE,
      incomplete_details: { reason: SENTENCE },
      usage: { ...COUNTS, note: SENTENCE },
      tool_usage: { [SENTENCE]: { num_requests: 1, input_tokens: 1 } },
    },
    jsonSetup({ dialect: "responses" }),
  );
  assert.deepEqual([service_tier, stop, server_tools, extra], [null, null, {}, []]);
  assert.deepEqual(raw_usage, { ...COUNTS, note: null });
});

test("reads a stop reason that is a sentence as null, and the response as completed", () => {
  const events = [{ type: "message_delta", delta: { stop_reason: SENTENCE }, usage: COUNTS }];
  const streamed = readBody(stream([...events, { type: "message_stop" }]), setup());
  const whole = readBody({ usage: COUNTS, stop_reason: SENTENCE }, jsonSetup());
  assert.deepEqual(
    [streamed, whole].map(({ stop, outcome }) => [stop, outcome]),
    [
      [null, "completed"],
      [null, "completed"],
    ],
  );
});

for (const [error, type] of [
  [{ error: { code: SENTENCE, type: "invalid_request_error" } }, "invalid_request_error"],
  [{ error: { code: SENTENCE, type: SENTENCE } }, null],
  [{ error: { type: LONG } }, null],
  [{ code: SENTENCE }, null],
  [{ error: { code: "context.length-exceeded:1" } }, "context.length-exceeded:1"],
] as const) {
  test(`reads the error type of ${JSON.stringify(error)} as ${type}`, () => {
    assert.equal(readBody(error, jsonSetup({ status: 400 })).error_type, type);
    const events = stream([{ type: "error", ...error }]);
    assert.equal(readBody(events, setup({ dialect: "responses" })).error_type, type);
  });
}
