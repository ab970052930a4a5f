import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { JsonObject } from "../../src/core/json.ts";
import { chatRequest, openSandbox, post, readChunks, valueAt, WITH_USAGE } from "./sandbox-client.ts";

const WEATHER = {
  type: "function",
  function: {
    name: "weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

const saying = (content: unknown): JsonObject => ({ messages: [{ role: "user", content }] });

async function ask(t: TestContext, more: JsonObject, xSandbox?: string): Promise<JsonObject> {
  const sandbox = await openSandbox(t);
  const headers = xSandbox === undefined ? {} : { "x-sandbox": xSandbox };
  const response = await post(sandbox, "/chat/completions", chatRequest(more), headers);
  assert.equal(response.status, 200);
  return (await response.json()) as JsonObject;
}

async function stream(t: TestContext, more: JsonObject, xSandbox = "gzip"): Promise<(JsonObject | string)[]> {
  const sandbox = await openSandbox(t);
  const headers = { "x-sandbox": xSandbox };
  const response = await post(sandbox, "/chat/completions", chatRequest({ ...WITH_USAGE, ...more }), headers);
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  return readChunks(await response.text());
}

/** Joins the strings at `path` of the deltas of one choice. */
function joinDeltas(
  chunks: readonly (JsonObject | string)[],
  index: number,
  ...path: (string | number)[]
): string {
  return chunks
    .map((chunk) => valueAt(chunk, "choices", 0))
    .filter((choice) => valueAt(choice, "index") === index)
    .map((choice) => valueAt(choice, "delta", ...path))
    .filter((piece) => typeof piece === "string")
    .join("");
}

const finishReasons = (chunks: readonly (JsonObject | string)[]): unknown[] =>
  chunks
    .map((chunk) => valueAt(chunk, "choices", 0, "finish_reason"))
    .filter((reason) => typeof reason === "string");

test("a chat completion echoes the prompt and counts its tokens as the other APIs do", async (t) => {
  const messages = [
    { role: "system", content: "be brief" },
    { role: "user", content: [{ type: "text", text: "good morning" }] },
  ];
  const completion = await ask(t, { messages });
  assert.match(String(completion["id"]), /^chatcmpl-sandbox/);
  assert.deepEqual(valueAt(completion, "choices", 0), {
    index: 0,
    message: {
      role: "assistant",
      content: "[sandbox] You said: good morning",
      refusal: null,
      annotations: [],
    },
    finish_reason: "stop",
  });
  // "be brief" and "good morning" are 8 and 12 bytes, the output 32.
  assert.deepEqual(completion["usage"], {
    prompt_tokens: 5,
    completion_tokens: 8,
    total_tokens: 13,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  });
});

for (const more of [{ reasoning_effort: "low" }, { reasoning: { effort: "low" } }]) {
  test(`reasoning is hidden and counted inside the output: ${JSON.stringify(more)}`, async (t) => {
    const usage = valueAt(await ask(t, more), "usage");
    const reasoning = Number(valueAt(usage, "completion_tokens_details", "reasoning_tokens"));
    assert.ok(reasoning > 0);
    assert.equal(valueAt(usage, "completion_tokens"), 8 + reasoning);
    assert.equal(valueAt(usage, "total_tokens"), 3 + 8 + reasoning);
  });
}

for (const more of [{ reasoning_effort: "none" }, { reasoning: { enabled: false } }]) {
  test(`no reasoning with ${JSON.stringify(more)}`, async (t) => {
    assert.equal(valueAt(await ask(t, more), "usage", "completion_tokens"), 8);
  });
}

test("reasoning-outside leaves reasoning out of completion_tokens, and in the total", async (t) => {
  const usage = valueAt(await ask(t, { reasoning_effort: "low" }, "reasoning-outside"), "usage");
  const reasoning = Number(valueAt(usage, "completion_tokens_details", "reasoning_tokens"));
  assert.equal(valueAt(usage, "completion_tokens"), 8);
  assert.equal(valueAt(usage, "total_tokens"), 3 + 8 + reasoning);
});

test("a chat completion calls the function that the prompt asks for, and responds to its result with text", async (t) => {
  const called = await ask(t, { ...saying("use the tool weather"), tools: [WEATHER] });
  const message = valueAt(called, "choices", 0, "message") as JsonObject;
  assert.equal(valueAt(called, "choices", 0, "finish_reason"), "tool_calls");
  assert.equal(message["content"], null);
  const call = valueAt(message, "tool_calls", 0) as JsonObject;
  assert.match(String(call["id"]), /^call_/);
  assert.equal(call["type"], "function");
  assert.deepEqual(call["function"], { name: "weather", arguments: '{"city":"sandbox"}' });

  const result = { role: "tool", tool_call_id: call["id"], content: "rain" };
  const messages = [{ role: "user", content: "use the tool weather" }, message, result];
  const final = await ask(t, { messages, tools: [WEATHER] });
  assert.equal(valueAt(final, "choices", 0, "message", "content"), "[sandbox] The tool returned: rain");
});

test("a chat completion with response_format is JSON that matches the schema", async (t) => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const format = { type: "json_schema", json_schema: { name: "x", schema } };
  const structured = await ask(t, { response_format: format });
  assert.equal(valueAt(structured, "choices", 0, "message", "content"), '{"n":1}');
  const free = await ask(t, { response_format: { type: "json_object" } });
  assert.equal(valueAt(free, "choices", 0, "message", "content"), "{}");
});

for (const limit of [
  { max_tokens: 4 },
  { max_completion_tokens: 4 },
  { max_completion_tokens: 4, max_tokens: 9 },
]) {
  test(`${JSON.stringify(limit)} ends the text with finish_reason length, as JSON and as a stream`, async (t) => {
    const completion = await ask(t, limit);
    assert.equal(valueAt(completion, "choices", 0, "message", "content"), "[sandbox] You sa");
    assert.equal(valueAt(completion, "choices", 0, "finish_reason"), "length");
    assert.equal(valueAt(completion, "usage", "completion_tokens"), 4);
    const chunks = await stream(t, limit);
    assert.equal(joinDeltas(chunks, 0, "content"), "[sandbox] You sa");
    assert.deepEqual(finishReasons(chunks), ["length"]);
  });
}

test("reasoning that reaches the limit leaves an empty text", async (t) => {
  const completion = await ask(t, { reasoning_effort: "high", max_completion_tokens: 4 });
  assert.equal(valueAt(completion, "choices", 0, "message", "content"), "");
  assert.equal(valueAt(completion, "choices", 0, "finish_reason"), "length");
  assert.equal(valueAt(completion, "usage", "completion_tokens_details", "reasoning_tokens"), 4);
});

test("n choices share one usage: the input once, the output of each", async (t) => {
  const completion = await ask(t, { n: 3 });
  assert.deepEqual(
    (completion["choices"] as JsonObject[]).map(({ index }) => index),
    [0, 1, 2],
  );
  assert.equal(valueAt(completion, "usage", "prompt_tokens"), 3);
  assert.equal(valueAt(completion, "usage", "completion_tokens"), 24);
  const chunks = await stream(t, { n: 3 });
  for (const index of [0, 1, 2])
    assert.equal(joinDeltas(chunks, index, "content"), "[sandbox] You said: good morning");
  assert.deepEqual(finishReasons(chunks), ["stop", "stop", "stop"]);
  assert.deepEqual(valueAt(chunks.at(-2), "usage"), completion["usage"]);
});

test("refuse declines in the member refusal, as JSON and as a stream", async (t) => {
  const completion = await ask(t, {}, "refuse");
  const message = valueAt(completion, "choices", 0, "message");
  assert.equal(valueAt(message, "content"), null);
  assert.equal(valueAt(message, "refusal"), "No.");
  assert.equal(valueAt(completion, "choices", 0, "finish_reason"), "stop");
  assert.equal(valueAt(completion, "usage", "completion_tokens"), 1);
  const chunks = await stream(t, {}, "refuse");
  assert.equal(joinDeltas(chunks, 0, "refusal"), "No.");
  assert.equal(joinDeltas(chunks, 0, "content"), "");
});

test("a streamed chat completion has the same text and usage as JSON, under one id, and ends with [DONE]", async (t) => {
  const completion = await ask(t, { reasoning_effort: "low" });
  const chunks = await stream(t, { reasoning_effort: "low" });
  assert.equal(chunks.at(-1), "[DONE]");
  assert.equal(valueAt(chunks[0], "choices", 0, "delta", "role"), "assistant");
  assert.equal(joinDeltas(chunks, 0, "content"), valueAt(completion, "choices", 0, "message", "content"));
  assert.deepEqual(valueAt(chunks.at(-2), "usage"), completion["usage"]);
  assert.equal(new Set(chunks.slice(0, -1).map((chunk) => valueAt(chunk, "id"))).size, 1);
});

test("the pieces of a streamed tool call join to its arguments", async (t) => {
  const chunks = await stream(t, { ...saying("use the tool weather"), tools: [WEATHER] });
  assert.equal(joinDeltas(chunks, 0, "tool_calls", 0, "function", "name"), "weather");
  assert.equal(joinDeltas(chunks, 0, "tool_calls", 0, "function", "arguments"), '{"city":"sandbox"}');
  assert.match(joinDeltas(chunks, 0, "tool_calls", 0, "id"), /^call_sandbox\w+$/);
  assert.deepEqual(finishReasons(chunks), ["tool_calls"]);
});

test("a prompt of at least 1024 tokens is cached in steps of 128, for its key, model and prompt_cache_key", async (t) => {
  const sandbox = await openSandbox(t);
  const messages = [
    { role: "system", content: "i".repeat(5000) },
    ...(chatRequest()["messages"] as object[]),
  ];
  const cachedOf = async (more: JsonObject) => {
    const response = await post(sandbox, "/chat/completions", chatRequest({ messages, ...more }));
    return valueAt(await response.json(), "usage", "prompt_tokens_details", "cached_tokens");
  };
  assert.equal(await cachedOf({}), 0);
  // 5000 and 12 bytes are 1253 tokens, of which 9 * 128 are whole steps.
  assert.equal(await cachedOf({}), 1152);
  assert.equal(await cachedOf({ prompt_cache_key: "other" }), 0);
  assert.equal(await cachedOf({ model: "gpt-5-mini" }), 0);
});
