import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { JsonObject } from "../../src/sandbox/json.ts";
import { dig, eventOrder, joinText, messageRequest, openSandbox, post, readEvents } from "./support.ts";

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
  const answer = await post(sandbox, "/messages", messageRequest(more));
  assert.equal(answer.status, 200);
  return (await answer.json()) as JsonObject;
}

function saying(content: unknown): JsonObject {
  return { messages: [{ role: "user", content }] };
}

test("a message echoes what was said, labelled as the sandbox's", async (t) => {
  const message = await ask(t, {});
  assert.deepEqual(message["content"], [{ type: "text", text: "[sandbox] You said: good morning" }]);
  assert.equal(message["stop_reason"], "end_turn");
  assert.equal(message["model"], "claude-sonnet-5");
  // "good morning" is 12 bytes, the answer 32.
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

test("the echo is of the typed text, not of a tool's tagged asides around it", async (t) => {
  const texts = ["<system-reminder>a</system-reminder>", "typed", "<system-reminder>b</system-reminder>"];
  const message = await ask(t, saying(texts.map((text) => ({ type: "text", text }))));
  assert.equal(dig(message, "content", 0, "text"), "[sandbox] You said: typed");
});

for (const thinking of [{ type: "enabled", budget_tokens: 1024 }, { type: "adaptive" }]) {
  test(`thinking ${thinking.type} gives a signed thinking block and its tokens`, async (t) => {
    const message = await ask(t, { thinking });
    const thought = dig(message, "content", 0);
    assert.equal(dig(thought, "type"), "thinking");
    assert.notEqual(dig(thought, "signature"), "");
    const thinkingTokens = Math.ceil(Buffer.byteLength(String(dig(thought, "thinking"))) / 4);
    assert.deepEqual(dig(message, "usage", "output_tokens_details"), { thinking_tokens: thinkingTokens });
    assert.equal(dig(message, "usage", "output_tokens"), thinkingTokens + 8);
  });
}

test("a tool is called when the words ask for it, with arguments that fit its schema", async (t) => {
  const message = await ask(t, { ...saying("Please use the tool `weather` now."), tools: [WEATHER] });
  assert.equal(message["stop_reason"], "tool_use");
  assert.equal(dig(message, "content", 0, "type"), "tool_use");
  assert.equal(dig(message, "content", 0, "name"), "weather");
  assert.deepEqual(dig(message, "content", 0, "input"), { city: "sandbox", unit: "celsius" });
});

test("no tool is called unasked, nor one that is not offered", async (t) => {
  const unasked = await ask(t, { ...saying("what is the weather?"), tools: [WEATHER] });
  assert.equal(unasked["stop_reason"], "end_turn");
  const absent = await ask(t, { ...saying("use the tool calendar"), tools: [WEATHER] });
  assert.match(String(dig(absent, "content", 0, "text")), /asked for the tool calendar/);
});

test("a tool's result is answered with text, though the words still stand there", async (t) => {
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
  assert.equal(dig(message, "content", 0, "text"), "[sandbox] The tool answered: sunny");
});

test("output_config.format gets JSON that fits its schema", async (t) => {
  const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
  const message = await ask(t, { output_config: { format: { type: "json_schema", schema } } });
  assert.deepEqual(JSON.parse(String(dig(message, "content", 0, "text"))), { title: "sandbox" });
});

for (const [max_tokens, text] of [
  [1, "[san"],
  [7, "[sandbox] You said: good mor"],
  [8, "[sandbox] You said: good morning"],
] as const) {
  test(`max_tokens ${max_tokens} gives "${text}"`, async (t) => {
    const message = await ask(t, { max_tokens });
    assert.equal(dig(message, "content", 0, "text"), text);
    assert.equal(dig(message, "usage", "output_tokens"), max_tokens);
    assert.equal(message["stop_reason"], max_tokens === 8 ? "end_turn" : "max_tokens");
  });
}

test("a stream says the same message as JSON does, in the order of the real service", async (t) => {
  const sandbox = await openSandbox(t);
  const request = messageRequest({ thinking: { type: "enabled" }, tools: [WEATHER] });
  const whole = (await (await post(sandbox, "/messages", request)).json()) as JsonObject;
  const answer = await post(sandbox, "/messages", { ...request, stream: true });
  assert.equal(answer.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.match(answer.headers.get("request-id") ?? "", /^req_/);
  assert.equal(answer.headers.get("anthropic-ratelimit-input-tokens-remaining"), "1000000");
  const events = readEvents(await answer.text());
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

  const start = dig(events[0], "data", "message", "usage");
  assert.equal(dig(start, "input_tokens"), dig(whole, "usage", "input_tokens"));
  assert.equal(dig(start, "output_tokens"), 1);
  const delta = events.find(({ name }) => name === "message_delta")?.data;
  assert.equal(dig(delta, "delta", "stop_reason"), "end_turn");
  assert.equal(dig(delta, "usage", "output_tokens"), dig(whole, "usage", "output_tokens"));
  assert.equal(joinText(events, "delta", "thinking"), dig(whole, "content", 0, "thinking"));
  assert.equal(joinText(events, "delta", "signature"), dig(whole, "content", 0, "signature"));
  assert.equal(joinText(events, "delta", "text"), dig(whole, "content", 1, "text"));
});

test("a streamed tool call's pieces join to its arguments", async (t) => {
  const sandbox = await openSandbox(t);
  const request = messageRequest({ ...saying("use the tool weather"), tools: [WEATHER], stream: true });
  const events = readEvents(await (await post(sandbox, "/messages", request)).text());
  assert.deepEqual(dig(events[1], "data", "content_block", "input"), {});
  assert.deepEqual(JSON.parse(joinText(events, "delta", "partial_json")), {
    city: "sandbox",
    unit: "celsius",
  });
});

test("count_tokens says what the message is then billed as input, system and tools included", async (t) => {
  const sandbox = await openSandbox(t);
  const request = messageRequest({ system: "be brief", tools: [WEATHER] });
  const counted = await (await post(sandbox, "/messages/count_tokens", request)).json();
  const message = await (await post(sandbox, "/messages", request)).json();
  assert.deepEqual(counted, { input_tokens: dig(message, "usage", "input_tokens") });
});
