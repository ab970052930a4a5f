import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { JsonObject } from "../../src/core/json.ts";
import {
  valueAt,
  eventOrder,
  joinText,
  messageRequest,
  openSandbox,
  post,
  readEvents,
} from "./sandbox-client.ts";

const WEATHER = {
  name: "weather",
  input_schema: {
    type: "object",
    properties: {
      city: { type: "string" },
      unit: { enum: ["celsius", "kelvin"] },
      days: { type: "integer" },
    },
    required: ["city", "unit"],
  },
};

async function ask(t: TestContext, more: JsonObject): Promise<JsonObject> {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/messages", messageRequest(more));
  assert.equal(response.status, 200);
  return (await response.json()) as JsonObject;
}

function saying(content: unknown): JsonObject {
  return { messages: [{ role: "user", content }] };
}

test("a message echoes the prompt with the label of the sandbox", async (t) => {
  const message = await ask(t, {});
  assert.deepEqual(message["content"], [{ type: "text", text: "[sandbox] You said: good morning" }]);
  assert.equal(message["stop_reason"], "end_turn");
  assert.equal(message["model"], "claude-sonnet-5");
  // "good morning" is 12 bytes, the output 32.
  assert.deepEqual(message["usage"], {
    input_tokens: 3,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: 8,
    service_tier: "standard",
    inference_geo: "not_available",
  });
});

test("a message echoes the text that the user typed, not the tagged context that tools add around it", async (t) => {
  const texts = ["<system-reminder>a</system-reminder>", "typed", "<system-reminder>b</system-reminder>"];
  const message = await ask(t, saying(texts.map((text) => ({ type: "text", text }))));
  assert.equal(valueAt(message, "content", 0, "text"), "[sandbox] You said: typed");
});

for (const thinking of [{ type: "enabled", budget_tokens: 1024 }, { type: "adaptive" }]) {
  test(`thinking ${thinking.type} yields a signed thinking block and counts its tokens`, async (t) => {
    const message = await ask(t, { thinking });
    const thought = valueAt(message, "content", 0);
    assert.equal(valueAt(thought, "type"), "thinking");
    assert.notEqual(valueAt(thought, "signature"), "");
    const thinkingTokens = Math.ceil(Buffer.byteLength(String(valueAt(thought, "thinking"))) / 4);
    assert.deepEqual(valueAt(message, "usage", "output_tokens_details"), { thinking_tokens: thinkingTokens });
    assert.equal(valueAt(message, "usage", "output_tokens"), thinkingTokens + 8);
  });
}

test("a message calls the tool that the prompt asks for, with arguments that match its schema", async (t) => {
  const message = await ask(t, { ...saying("Please use the tool `weather` now."), tools: [WEATHER] });
  assert.equal(message["stop_reason"], "tool_use");
  assert.equal(valueAt(message, "content", 0, "type"), "tool_use");
  assert.equal(valueAt(message, "content", 0, "name"), "weather");
  assert.deepEqual(valueAt(message, "content", 0, "input"), { city: "sandbox", unit: "celsius" });
});

test("a message calls no tool that the prompt does not ask for or the request does not offer", async (t) => {
  const unasked = await ask(t, { ...saying("what is the weather?"), tools: [WEATHER] });
  assert.equal(unasked["stop_reason"], "end_turn");
  const absent = await ask(t, { ...saying("use the tool calendar"), tools: [WEATHER] });
  assert.match(String(valueAt(absent, "content", 0, "text")), /asked for the tool calendar/);
});

test("a message responds to a tool result with text, even when the prompt still asks for the tool", async (t) => {
  const messages = [
    { role: "user", content: "use the tool weather" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "weather", input: {} }] },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "sunny" }] },
        { type: "text", text: "use the tool weather" },
      ],
    },
  ];
  const message = await ask(t, { messages, tools: [WEATHER] });
  assert.equal(valueAt(message, "content", 0, "text"), "[sandbox] The tool returned: sunny");
});

test("a message with output_config.format is JSON that matches the schema", async (t) => {
  const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
  const message = await ask(t, { output_config: { format: { type: "json_schema", schema } } });
  assert.deepEqual(JSON.parse(String(valueAt(message, "content", 0, "text"))), { title: "sandbox" });
});

for (const [max_tokens, text] of [
  [1, "[san"],
  [7, "[sandbox] You said: good mor"],
  [8, "[sandbox] You said: good morning"],
] as const) {
  test(`max_tokens ${max_tokens} truncates the message to "${text}"`, async (t) => {
    const message = await ask(t, { max_tokens });
    assert.equal(valueAt(message, "content", 0, "text"), text);
    assert.equal(valueAt(message, "usage", "output_tokens"), max_tokens);
    assert.equal(message["stop_reason"], max_tokens === 8 ? "end_turn" : "max_tokens");
  });
}

test("a streamed message has the same content and usage as JSON, with events in the order of the real service", async (t) => {
  const sandbox = await openSandbox(t);
  const request = messageRequest({ thinking: { type: "enabled" }, tools: [WEATHER] });
  const whole = (await (await post(sandbox, "/messages", request)).json()) as JsonObject;
  const response = await post(sandbox, "/messages", { ...request, stream: true });
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.match(response.headers.get("request-id") ?? "", /^req_/);
  assert.equal(response.headers.get("anthropic-ratelimit-input-tokens-remaining"), "1000000");
  const events = readEvents(await response.text());
  assert.deepEqual(eventOrder(events), [
    "message_start",
    "content_block_start",
    "ping",
    "content_block_delta",
    "content_block_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  for (const { name, data } of events) assert.equal(name, data["type"]);

  const start = valueAt(events[0], "data", "message", "usage");
  assert.equal(valueAt(start, "input_tokens"), valueAt(whole, "usage", "input_tokens"));
  assert.equal(valueAt(start, "output_tokens"), 1);
  const delta = events.find(({ name }) => name === "message_delta")?.data;
  assert.equal(valueAt(delta, "delta", "stop_reason"), "end_turn");
  assert.equal(valueAt(delta, "usage", "output_tokens"), valueAt(whole, "usage", "output_tokens"));
  assert.equal(joinText(events, "delta", "thinking"), valueAt(whole, "content", 0, "thinking"));
  assert.equal(joinText(events, "delta", "signature"), valueAt(whole, "content", 0, "signature"));
  assert.equal(joinText(events, "delta", "text"), valueAt(whole, "content", 1, "text"));
});

test("the pieces of a streamed tool call join to its arguments", async (t) => {
  const sandbox = await openSandbox(t);
  const request = messageRequest({ ...saying("use the tool weather"), tools: [WEATHER], stream: true });
  const events = readEvents(await (await post(sandbox, "/messages", request)).text());
  assert.deepEqual(valueAt(events[1], "data", "content_block", "input"), {});
  assert.deepEqual(JSON.parse(joinText(events, "delta", "partial_json")), {
    city: "sandbox",
    unit: "celsius",
  });
});

test("count_tokens reports the input tokens that the message is billed, including system and tools", async (t) => {
  const sandbox = await openSandbox(t);
  const request = messageRequest({ system: "be brief", tools: [WEATHER] });
  const counted = await (await post(sandbox, "/messages/count_tokens", request)).json();
  const message = await (await post(sandbox, "/messages", request)).json();
  assert.deepEqual(counted, { input_tokens: valueAt(message, "usage", "input_tokens") });
});
