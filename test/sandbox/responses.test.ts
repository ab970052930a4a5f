import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { JsonObject } from "../../src/sandbox/json.ts";
import { dig, eventOrder, joinText, openSandbox, post, readEvents, responsesRequest } from "./support.ts";

const WEATHER = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

async function ask(t: TestContext, more: JsonObject): Promise<JsonObject> {
  const sandbox = await openSandbox(t);
  const answer = await post(sandbox, "/responses", responsesRequest(more));
  assert.equal(answer.status, 200);
  return (await answer.json()) as JsonObject;
}

test("a response echoes what was said and repeats the request", async (t) => {
  const response = await ask(t, { instructions: "be brief", temperature: 0.5, metadata: { a: "b" } });
  assert.equal(response["status"], "completed");
  assert.equal(response["instructions"], "be brief");
  assert.equal(response["temperature"], 0.5);
  assert.deepEqual(response["metadata"], { a: "b" });
  assert.equal(dig(response, "output", 0, "content", 0, "text"), "[sandbox] You said: good morning");
  // "be brief" and "good morning" are 8 and 12 bytes, the answer 32.
  assert.deepEqual(response["usage"], {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 8,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 13,
  });
});

test("the echo is of the last message that a person typed, among items", async (t) => {
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
  assert.equal(dig(response, "output", 0, "content", 0, "text"), "[sandbox] You said: second");
});

test("reasoning gives a reasoning item, its summary and encrypted form where asked for", async (t) => {
  const plain = await ask(t, { reasoning: { effort: "low" } });
  assert.equal(dig(plain, "output", 0, "type"), "reasoning");
  assert.deepEqual(dig(plain, "output", 0, "summary"), []);
  assert.equal(dig(plain, "output", 0, "encrypted_content"), undefined);
  const full = await ask(t, {
    reasoning: { effort: "low", summary: "auto" },
    include: ["reasoning.encrypted_content"],
  });
  const summary = String(dig(full, "output", 0, "summary", 0, "text"));
  assert.equal(
    dig(full, "usage", "output_tokens_details", "reasoning_tokens"),
    Math.ceil(summary.length / 4),
  );
  assert.equal(typeof dig(full, "output", 0, "encrypted_content"), "string");
  const none = await ask(t, { reasoning: { effort: "none" } });
  assert.equal(dig(none, "output", 0, "type"), "message");
});

test("a function is called when the words ask for it, and its output answered with text", async (t) => {
  const input = [{ role: "user", content: "use the tool weather" }];
  const called = await ask(t, { input, tools: [WEATHER] });
  assert.equal(dig(called, "output", 0, "type"), "function_call");
  assert.equal(dig(called, "output", 0, "arguments"), '{"city":"sandbox"}');
  const call = dig(called, "output", 0) as JsonObject;
  const output = { type: "function_call_output", call_id: call["call_id"], output: "rain" };
  const final = await ask(t, { input: [...input, call, output], tools: [WEATHER] });
  assert.equal(dig(final, "output", 0, "content", 0, "text"), "[sandbox] The tool answered: rain");
});

test("text.format gets JSON that fits its schema", async (t) => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const response = await ask(t, { text: { format: { type: "json_schema", name: "x", schema } } });
  assert.equal(dig(response, "output", 0, "content", 0, "text"), '{"n":1}');
});

test("max_output_tokens leaves the response incomplete, as JSON and as a stream", async (t) => {
  const response = await ask(t, { max_output_tokens: 4 });
  assert.equal(response["status"], "incomplete");
  assert.deepEqual(response["incomplete_details"], { reason: "max_output_tokens" });
  assert.equal(dig(response, "output", 0, "content", 0, "text"), "[sandbox] You sa");
  assert.equal(dig(response, "usage", "output_tokens"), 4);
  const sandbox = await openSandbox(t);
  const request = responsesRequest({ max_output_tokens: 4, stream: true });
  const last = readEvents(await (await post(sandbox, "/responses", request)).text()).at(-1);
  assert.equal(last?.name, "response.incomplete");
  assert.deepEqual(dig(last, "data", "response", "usage"), response["usage"]);
});

test("a stream says the same response as JSON does, in the order of the real service", async (t) => {
  const sandbox = await openSandbox(t);
  const request = responsesRequest({ reasoning: { summary: "auto" } });
  const whole = await (await post(sandbox, "/responses", request)).json();
  const answer = await post(sandbox, "/responses", { ...request, stream: true });
  assert.equal(answer.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.match(answer.headers.get("x-request-id") ?? "", /^req_/);
  assert.equal(answer.headers.get("x-ratelimit-limit-requests"), "1000");
  const events = readEvents(await answer.text());
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
  assert.equal(dig(events[0], "data", "response", "usage"), null);
  assert.deepEqual(dig(events.at(-1), "data", "response", "usage"), dig(whole, "usage"));
  const pieces = events.filter(({ name }) => name === "response.output_text.delta");
  assert.equal(joinText(pieces, "delta"), dig(whole, "output", 1, "content", 0, "text"));
});

test("a streamed function call's pieces join to its arguments", async (t) => {
  const sandbox = await openSandbox(t);
  const request = responsesRequest({ input: "use the tool weather", tools: [WEATHER], stream: true });
  const events = readEvents(await (await post(sandbox, "/responses", request)).text());
  const pieces = events.filter(({ name }) => name === "response.function_call_arguments.delta");
  assert.equal(joinText(pieces, "delta"), '{"city":"sandbox"}');
});

test("earlier turns behind previous_response_id count as input; an unknown one is 400", async (t) => {
  const sandbox = await openSandbox(t);
  const first = await (await post(sandbox, "/responses", responsesRequest())).json();
  const next = responsesRequest({ previous_response_id: dig(first, "id") });
  const second = await (await post(sandbox, "/responses", next)).json();
  assert.equal(dig(second, "usage", "input_tokens"), 3 + Number(dig(first, "usage", "total_tokens")));
  const lost = await post(sandbox, "/responses", responsesRequest({ previous_response_id: "resp_lost" }));
  assert.equal(lost.status, 400);
  assert.equal(dig(await lost.json(), "error", "code"), "previous_response_not_found");
});
