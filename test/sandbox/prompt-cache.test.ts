import assert from "node:assert/strict";
import { test } from "node:test";
import { PromptCache } from "../../src/sandbox/generation/prompt-cache.ts";
import type { Sandbox } from "../../src/sandbox/server.ts";
import { valueAt, messageRequest, openSandbox, post, responsesRequest } from "./sandbox-client.ts";

const SYSTEM = "s".repeat(400);
const FIRST = "f".repeat(40);
const SECOND = "g".repeat(80);

function block(text: string, ttl?: string): object {
  return { type: "text", text, ...(ttl !== undefined && { cache_control: { type: "ephemeral", ttl } }) };
}

/** [uncached, read, written for 5 minutes, written for 1 hour] */
async function usageOf(sandbox: Sandbox, request: object): Promise<unknown[]> {
  const usage = valueAt(
    await (await post(sandbox, "/messages", messageRequest({ ...request }))).json(),
    "usage",
  );
  const split = valueAt(usage, "cache_creation");
  const written = [valueAt(split, "ephemeral_5m_input_tokens"), valueAt(split, "ephemeral_1h_input_tokens")];
  assert.equal(valueAt(usage, "cache_creation_input_tokens"), Number(written[0]) + Number(written[1]));
  return [valueAt(usage, "input_tokens"), valueAt(usage, "cache_read_input_tokens"), ...written];
}

test("a prefix counts as written the first time and as read afterwards, and what follows it as uncached", async (t) => {
  const sandbox = await openSandbox(t);
  const request = { system: [block(SYSTEM, "5m")] };
  assert.deepEqual(await usageOf(sandbox, request), [3, 0, 100, 0]);
  assert.deepEqual(await usageOf(sandbox, request), [3, 100, 0, 0]);
});

test("each part counts as written with the lifetime of the next breakpoint", async (t) => {
  const sandbox = await openSandbox(t);
  const messages = [{ role: "user", content: [block(FIRST), block(SECOND, "5m")] }];
  assert.deepEqual(await usageOf(sandbox, { system: [block(SYSTEM, "1h")], messages }), [0, 0, 30, 100]);
});

test("the next turn reads the prefix of the previous one and writes what is new, even when the breakpoint moves", async (t) => {
  const sandbox = await openSandbox(t);
  const turn = [{ role: "user", content: [block(FIRST, "5m")] }];
  assert.deepEqual(await usageOf(sandbox, { messages: turn }), [0, 0, 10, 0]);
  const next = [
    { role: "user", content: [block(FIRST)] },
    { role: "assistant", content: [block("yes.")] },
    { role: "user", content: [block(SECOND, "5m")] },
  ];
  assert.deepEqual(await usageOf(sandbox, { messages: next }), [0, 10, 21, 0]);
});

test("cache_control on the request itself caches the whole prompt", async (t) => {
  const sandbox = await openSandbox(t);
  const request = { system: SYSTEM, cache_control: { type: "ephemeral" } };
  assert.deepEqual(await usageOf(sandbox, request), [0, 0, 103, 0]);
  assert.deepEqual(await usageOf(sandbox, request), [0, 103, 0, 0]);
});

test("models do not share cached prefixes, and a prompt without a breakpoint is not cached", async (t) => {
  const sandbox = await openSandbox(t);
  await usageOf(sandbox, { system: [block(SYSTEM, "5m")] });
  const other = { system: [block(SYSTEM, "5m")], model: "claude-opus-5" };
  assert.deepEqual(await usageOf(sandbox, other), [3, 0, 100, 0]);
  assert.deepEqual(await usageOf(sandbox, { system: [block(SYSTEM)] }), [103, 0, 0, 0]);
});

test("/responses reads a repeated prefix of at least 1024 tokens, in steps of 128, separately for each prompt_cache_key", async (t) => {
  const sandbox = await openSandbox(t);
  const cached = async (more: object): Promise<unknown> => {
    const response = await post(sandbox, "/responses", responsesRequest({ ...more }));
    return valueAt(await response.json(), "usage", "input_tokens_details", "cached_tokens");
  };
  const long = { instructions: "i".repeat(4 * 1200), prompt_cache_key: "a" };
  assert.equal(await cached(long), 0);
  assert.equal(await cached({ ...long, input: "something else" }), 1152);
  assert.equal(await cached({ ...long, prompt_cache_key: "b" }), 0);
  const short = { instructions: "i".repeat(4 * 1000) };
  assert.equal(await cached(short), 0);
  assert.equal(await cached(short), 0);
});

test("removing the breakpoint of a tool does not change its prefix", async (t) => {
  const sandbox = await openSandbox(t);
  const tool = { name: "weather", input_schema: { type: "object" } };
  const marked = { ...tool, cache_control: { type: "ephemeral" } };
  const [, , written] = await usageOf(sandbox, { tools: [marked] });
  assert.notEqual(written, 0);
  const second = { ...marked, name: "calendar" };
  assert.equal((await usageOf(sandbox, { tools: [tool, second] }))[1], written);
});

test("PromptCache evicts the least recently added prefix when it is full", () => {
  const memory = new PromptCache();
  for (let at = 0; at < 2000; at += 1) memory.add(`${at}`);
  memory.add("0");
  memory.add("one more");
  assert.deepEqual(
    ["0", "1", "2", "one more"].map((hash) => memory.has(hash)),
    [true, false, true, true],
  );
});
