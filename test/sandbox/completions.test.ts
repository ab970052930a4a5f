import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { JsonObject } from "../../src/core/json.ts";
import { openSandbox, post, readChunks, valueAt, WITH_USAGE } from "./sandbox-client.ts";

const request = (more: JsonObject = {}): JsonObject => ({ model: "gpt-5", prompt: "good morning", ...more });

async function send(t: TestContext, more: JsonObject, xSandbox?: string): Promise<Response> {
  const sandbox = await openSandbox(t);
  const headers = xSandbox === undefined ? {} : { "x-sandbox": xSandbox };
  const response = await post(sandbox, "/completions", request(more), headers);
  assert.equal(response.status, 200);
  return response;
}

async function ask(t: TestContext, more: JsonObject, xSandbox?: string): Promise<JsonObject> {
  return (await (await send(t, more, xSandbox)).json()) as JsonObject;
}

test("a completion echoes the prompt", async (t) => {
  const completion = await ask(t, {});
  assert.match(String(completion["id"]), /^cmpl-sandbox/);
  assert.equal(completion["object"], "text_completion");
  assert.deepEqual(completion["choices"], [
    { text: "[sandbox] You said: good morning", index: 0, logprobs: null, finish_reason: "stop" },
  ]);
  assert.equal(valueAt(completion, "usage", "prompt_tokens"), 3);
  assert.equal(valueAt(completion, "usage", "completion_tokens"), 8);
});

test("a completion has at most max_tokens, 16 unless the request says otherwise", async (t) => {
  const short = await ask(t, { max_tokens: 4 });
  assert.equal(valueAt(short, "choices", 0, "text"), "[sandbox] You sa");
  assert.equal(valueAt(short, "choices", 0, "finish_reason"), "length");
  const long = await ask(t, { prompt: "x".repeat(400) });
  assert.equal(valueAt(long, "choices", 0, "finish_reason"), "length");
  assert.equal(valueAt(long, "usage", "completion_tokens"), 16);
});

test("each of several prompts, as text or as tokens, gets n choices; the input of each is billed once", async (t) => {
  const completion = await ask(t, { prompt: ["good morning", [1, 2, 3, 4, 5]], n: 2 });
  assert.deepEqual(
    (completion["choices"] as JsonObject[]).map(({ index, text }) => [index, text]),
    [
      [0, "[sandbox] You said: good morning"],
      [1, "[sandbox] You said: good morning"],
      [2, "[sandbox] You said: 1 2 3 4 5"],
      [3, "[sandbox] You said: 1 2 3 4 5"],
    ],
  );
  assert.equal(valueAt(completion, "usage", "prompt_tokens"), 8);
  assert.equal(valueAt(completion, "usage", "completion_tokens"), 32);
});

test("a list of tokens is one prompt", async (t) => {
  const completion = await ask(t, { prompt: [1, 2, 3] });
  assert.equal((completion["choices"] as unknown[]).length, 1);
  assert.equal(valueAt(completion, "usage", "prompt_tokens"), 3);
});

test("refuse ends a completion with content_filter", async (t) => {
  const completion = await ask(t, {}, "refuse");
  assert.equal(valueAt(completion, "choices", 0, "text"), "");
  assert.equal(valueAt(completion, "choices", 0, "finish_reason"), "content_filter");
});

test("a streamed completion has the same text and usage as JSON", async (t) => {
  const whole = await ask(t, { prompt: ["good morning", "x"] });
  const chunks = readChunks(await (await send(t, { prompt: ["good morning", "x"], ...WITH_USAGE })).text());
  assert.equal(chunks.at(-1), "[DONE]");
  assert.deepEqual(valueAt(chunks.at(-2), "usage"), whole["usage"]);
  for (const index of [0, 1]) {
    const choices = chunks
      .map((chunk) => valueAt(chunk, "choices", 0))
      .filter((choice) => valueAt(choice, "index") === index);
    const text = choices.map((choice) => String(valueAt(choice, "text"))).join("");
    assert.equal(text, valueAt(whole, "choices", index, "text"));
    assert.equal(valueAt(choices.at(-1), "finish_reason"), "stop");
  }
});

test("usage=zeros streams zeros until the end, as Ollama does on this route", async (t) => {
  const text = await (await send(t, { stream: true }, "usage=zeros")).text();
  const totals = readChunks(text).map((chunk) => valueAt(chunk, "usage", "total_tokens"));
  assert.deepEqual(totals, [0, 0, 11, undefined]);
});

test("error-event ends a streamed completion after its first piece and bills nothing", async (t) => {
  const sandbox = await openSandbox(t);
  const headers = { "x-sandbox": "error-event" };
  const response = await post(sandbox, "/completions", request({ stream: true }), headers);
  const chunks = readChunks(await response.text());
  assert.equal(chunks.length, 2);
  assert.equal(valueAt(chunks[1], "error", "type"), "server_error");
  assert.equal(valueAt(sandbox.counts(), 0, "count", "output"), 0);
});
