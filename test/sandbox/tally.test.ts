import assert from "node:assert/strict";
import { test } from "node:test";
import { Tally } from "../../src/sandbox/tally.ts";
import {
  chatRequest,
  valueAt,
  messageRequest,
  openSandbox,
  post,
  readChunks,
  readEvents,
  responsesRequest,
  WITH_USAGE,
} from "./sandbox-client.ts";

const CACHED_SYSTEM = [{ type: "text", text: "s".repeat(500), cache_control: { type: "ephemeral" } }];

test("the tally for /messages equals the usage that JSON and streamed responses reported", async (t) => {
  const sandbox = await openSandbox(t);
  const request = messageRequest({ system: CACHED_SYSTEM, thinking: { type: "adaptive" } });
  const whole = valueAt(await (await post(sandbox, "/messages", request)).json(), "usage");
  const stream = readEvents(await (await post(sandbox, "/messages", { ...request, stream: true })).text());
  const streamed = valueAt(
    stream.find(({ name }) => name === "message_delta"),
    "data",
    "usage",
  );
  const sum = (...path: string[]): number =>
    Number(valueAt(whole, ...path)) + Number(valueAt(streamed, ...path));
  assert.notEqual(sum("cache_read_input_tokens"), 0);
  assert.deepEqual(sandbox.counts(), [
    {
      key: "default",
      route: "/messages",
      count: {
        requests: 2,
        input_uncached: sum("input_tokens"),
        cache_read: sum("cache_read_input_tokens"),
        cache_write: sum("cache_creation_input_tokens"),
        output: sum("output_tokens"),
        reasoning: sum("output_tokens_details", "thinking_tokens"),
      },
    },
  ]);
});

test("the tally for /responses equals the usage that JSON and streamed responses reported", async (t) => {
  const sandbox = await openSandbox(t);
  const request = responsesRequest({ instructions: "i".repeat(8000), reasoning: { effort: "low" } });
  const whole = valueAt(await (await post(sandbox, "/responses", request)).json(), "usage");
  const stream = readEvents(await (await post(sandbox, "/responses", { ...request, stream: true })).text());
  const streamed = valueAt(stream.at(-1), "data", "response", "usage");
  const sum = (...path: string[]): number =>
    Number(valueAt(whole, ...path)) + Number(valueAt(streamed, ...path));
  const cached = sum("input_tokens_details", "cached_tokens");
  assert.notEqual(cached, 0);
  assert.deepEqual(sandbox.counts(), [
    {
      key: "default",
      route: "/responses",
      count: {
        requests: 2,
        input_uncached: sum("input_tokens") - cached,
        cache_read: cached,
        cache_write: 0,
        output: sum("output_tokens"),
        reasoning: sum("output_tokens_details", "reasoning_tokens"),
      },
    },
  ]);
});

test("the tally for /chat/completions equals the usage that JSON and streamed responses reported", async (t) => {
  const sandbox = await openSandbox(t);
  const messages = [
    { role: "system", content: "i".repeat(8000) },
    { role: "user", content: "good morning" },
  ];
  const request = chatRequest({ messages, reasoning_effort: "low", n: 2 });
  const whole = valueAt(await (await post(sandbox, "/chat/completions", request)).json(), "usage");
  const stream = await post(sandbox, "/chat/completions", { ...request, ...WITH_USAGE });
  const streamed = valueAt(readChunks(await stream.text()).at(-2), "usage");
  const sum = (...path: string[]): number =>
    Number(valueAt(whole, ...path)) + Number(valueAt(streamed, ...path));
  const cached = sum("prompt_tokens_details", "cached_tokens");
  assert.notEqual(cached, 0);
  assert.notEqual(sum("completion_tokens_details", "reasoning_tokens"), 0);
  assert.deepEqual(sandbox.counts(), [
    {
      key: "default",
      route: "/chat/completions",
      count: {
        requests: 2,
        input_uncached: sum("prompt_tokens") - cached,
        cache_read: cached,
        cache_write: 0,
        output: sum("completion_tokens"),
        reasoning: sum("completion_tokens_details", "reasoning_tokens"),
      },
    },
  ]);
});

test("an execution names the client's id, the response's id, the key, the route and the model", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/chat/completions", chatRequest(), { "x-client-request-id": "one" });
  await post(sandbox, "/messages", messageRequest(), { "x-api-key": sandbox.keys[1]?.secret ?? "" });
  await post(sandbox, "/messages", messageRequest({ model: "nobody" }));
  const [first, second, ...others] = sandbox.executions();
  assert.deepEqual(first, {
    requestId: response.headers.get("x-request-id"),
    clientRequestId: "one",
    key: "default",
    route: "/chat/completions",
    model: "gpt-5",
  });
  assert.equal(second?.key, "claude");
  assert.equal(second?.clientRequestId, null);
  assert.deepEqual(others, []);
});

test("keys and routes are tallied separately, and count_tokens and errors bill nothing", async (t) => {
  const sandbox = await openSandbox(t);
  await post(sandbox, "/messages/count_tokens", messageRequest());
  await post(sandbox, "/messages", messageRequest({ model: "nobody" }));
  await post(sandbox, "/messages", messageRequest());
  await post(sandbox, "/messages", messageRequest(), { "x-api-key": sandbox.keys[1]?.secret ?? "" });
  assert.deepEqual(
    sandbox.counts().map(({ key, route, count }) => [key, route, count.requests, count.output]),
    [
      ["default", "/messages/count_tokens", 1, 0],
      ["default", "/messages", 1, 8],
      ["claude", "/messages", 1, 8],
    ],
  );
});

test("a response that is cut off is billed in full", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/messages", messageRequest({ stream: true }), {
    "x-sandbox": "cut=1",
  });
  await assert.rejects(response.text());
  assert.equal(valueAt(sandbox.counts(), 0, "count", "output"), 8);
});

test("counts() returns a copy of the tally", async (t) => {
  const sandbox = await openSandbox(t);
  await post(sandbox, "/messages", messageRequest());
  for (const row of sandbox.counts()) row.count.output = 0;
  assert.equal(valueAt(sandbox.counts(), 0, "count", "output"), 8);
});

test("the tally forgets the oldest of more than 10 000 executions, but counts them", () => {
  const tally = new Tally();
  const execution = { clientRequestId: null, key: "one", route: "/messages", model: null };
  for (let at = 0; at <= 10_000; at += 1) tally.addExecution({ ...execution, requestId: String(at) });
  assert.equal(tally.executions().length, 10_000);
  assert.equal(tally.executions()[0]?.requestId, "1");
  assert.equal(tally.rows()[0]?.count.requests, 10_001);
});
