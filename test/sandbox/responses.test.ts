import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { JsonObject } from "../../src/core/json.ts";
import {
  valueAt,
  eventOrder,
  joinText,
  openSandbox,
  post,
  readEvents,
  responsesRequest,
} from "./sandbox-client.ts";

const WEATHER = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

async function ask(t: TestContext, more: JsonObject): Promise<JsonObject> {
  const sandbox = await openSandbox(t);
  const httpResponse = await post(sandbox, "/responses", responsesRequest(more));
  assert.equal(httpResponse.status, 200);
  return (await httpResponse.json()) as JsonObject;
}

test("a response echoes the prompt and repeats the request's settings", async (t) => {
  const response = await ask(t, { instructions: "be brief", temperature: 0.5, metadata: { a: "b" } });
  assert.equal(response["status"], "completed");
  assert.equal(response["instructions"], "be brief");
  assert.equal(response["temperature"], 0.5);
  assert.deepEqual(response["metadata"], { a: "b" });
  assert.equal(valueAt(response, "output", 0, "content", 0, "text"), "[sandbox] You said: good morning");
  // "be brief" and "good morning" are 8 and 12 bytes, the output 32.
  assert.deepEqual(response["usage"], {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 8,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 13,
  });
});

test("a response echoes the last message that the user typed, not context in tags", async (t) => {
  const input = [
    { type: "message", role: "user", content: [{ type: "input_text", text: "first" }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] },
    { type: "message", role: "user", content: [{ type: "input_text", text: "second" }] },
    {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "<environment_context>x</environment_context>" }],
    },
  ];
  const response = await ask(t, { input });
  assert.equal(valueAt(response, "output", 0, "content", 0, "text"), "[sandbox] You said: second");
});

test("reasoning yields a reasoning item, with the summary and the encrypted content that the request asks for", async (t) => {
  const plain = await ask(t, { reasoning: { effort: "low" } });
  assert.equal(valueAt(plain, "output", 0, "type"), "reasoning");
  assert.deepEqual(valueAt(plain, "output", 0, "summary"), []);
  assert.equal(valueAt(plain, "output", 0, "encrypted_content"), undefined);
  const full = await ask(t, {
    reasoning: { effort: "low", summary: "auto" },
    include: ["reasoning.encrypted_content"],
  });
  const summary = String(valueAt(full, "output", 0, "summary", 0, "text"));
  assert.equal(
    valueAt(full, "usage", "output_tokens_details", "reasoning_tokens"),
    Math.ceil(summary.length / 4),
  );
  assert.equal(typeof valueAt(full, "output", 0, "encrypted_content"), "string");
  const none = await ask(t, { reasoning: { effort: "none" } });
  assert.equal(valueAt(none, "output", 0, "type"), "message");
});

test("a response calls the function that the prompt asks for, and responds to its output with text", async (t) => {
  const input = [{ role: "user", content: "use the tool weather" }];
  const called = await ask(t, { input, tools: [WEATHER] });
  assert.equal(valueAt(called, "output", 0, "type"), "function_call");
  assert.equal(valueAt(called, "output", 0, "arguments"), '{"city":"sandbox"}');
  const call = valueAt(called, "output", 0) as JsonObject;
  const output = { type: "function_call_output", call_id: call["call_id"], output: "rain" };
  const final = await ask(t, { input: [...input, call, output], tools: [WEATHER] });
  assert.equal(valueAt(final, "output", 0, "content", 0, "text"), "[sandbox] The tool returned: rain");
});

test("a response with text.format is JSON that matches the schema", async (t) => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const response = await ask(t, { text: { format: { type: "json_schema", name: "x", schema } } });
  assert.equal(valueAt(response, "output", 0, "content", 0, "text"), '{"n":1}');
});

test("a response beyond max_output_tokens is incomplete, as JSON and as a stream", async (t) => {
  const response = await ask(t, { max_output_tokens: 4 });
  assert.equal(response["status"], "incomplete");
  assert.deepEqual(response["incomplete_details"], { reason: "max_output_tokens" });
  assert.equal(valueAt(response, "output", 0, "content", 0, "text"), "[sandbox] You sa");
  assert.equal(valueAt(response, "usage", "output_tokens"), 4);
  const sandbox = await openSandbox(t);
  const request = responsesRequest({ max_output_tokens: 4, stream: true });
  const last = readEvents(await (await post(sandbox, "/responses", request)).text()).at(-1);
  assert.equal(last?.name, "response.incomplete");
  assert.deepEqual(valueAt(last, "data", "response", "usage"), response["usage"]);
});

test("a streamed response has the same content and usage as JSON, with events in the order of the real service", async (t) => {
  const sandbox = await openSandbox(t);
  const request = responsesRequest({ reasoning: { summary: "auto" } });
  const whole = await (await post(sandbox, "/responses", request)).json();
  const httpResponse = await post(sandbox, "/responses", { ...request, stream: true });
  assert.equal(httpResponse.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.match(httpResponse.headers.get("x-request-id") ?? "", /^req_/);
  assert.equal(httpResponse.headers.get("x-ratelimit-limit-requests"), "1000");
  const events = readEvents(await httpResponse.text());
  assert.deepEqual(
    eventOrder(events).map((name) => name.replace("response.", "")),
    [
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ],
  );
  for (const [at, { name, data }] of events.entries()) {
    assert.equal(name, data["type"]);
    assert.equal(data["sequence_number"], at);
  }
  assert.equal(valueAt(events[0], "data", "response", "usage"), null);
  assert.deepEqual(valueAt(events.at(-1), "data", "response", "usage"), valueAt(whole, "usage"));
  const pieces = events.filter(({ name }) => name === "response.output_text.delta");
  assert.equal(joinText(pieces, "delta"), valueAt(whole, "output", 1, "content", 0, "text"));
});

test("the pieces of a streamed function call join to its arguments", async (t) => {
  const sandbox = await openSandbox(t);
  const request = responsesRequest({ input: "use the tool weather", tools: [WEATHER], stream: true });
  const events = readEvents(await (await post(sandbox, "/responses", request)).text());
  const pieces = events.filter(({ name }) => name === "response.function_call_arguments.delta");
  assert.equal(joinText(pieces, "delta"), '{"city":"sandbox"}');
});

test("the turns behind previous_response_id count as input, and an unknown id gets 400", async (t) => {
  const sandbox = await openSandbox(t);
  const first = await (await post(sandbox, "/responses", responsesRequest())).json();
  const next = responsesRequest({ previous_response_id: valueAt(first, "id") });
  const second = await (await post(sandbox, "/responses", next)).json();
  assert.equal(valueAt(second, "usage", "input_tokens"), 3 + Number(valueAt(first, "usage", "total_tokens")));
  const lost = await post(sandbox, "/responses", responsesRequest({ previous_response_id: "resp_lost" }));
  assert.equal(lost.status, 400);
  assert.equal(valueAt(await lost.json(), "error", "code"), "previous_response_not_found");
});
