import assert from "node:assert/strict";
import { test } from "node:test";
import { PrefixMemory } from "../../src/sandbox/prefix-memory.ts";
import type { Sandbox } from "../../src/sandbox/server.ts";
import { dig, messageRequest, openSandbox, post, responsesRequest } from "./support.ts";

const SYSTEM = "s".repeat(400);
const FIRST = "f".repeat(40);
const SECOND = "g".repeat(80);

function block(text: string, ttl?: string): object {
  return { type: "text", text, ...(ttl !== undefined && { cache_control: { type: "ephemeral", ttl } }) };
}

/** [uncached, read, written for 5 minutes, written for 1 hour] */
async function usageOf(sandbox: Sandbox, request: object): Promise<unknown[]> {
  const usage = dig(await (await post(sandbox, "/messages", messageRequest({ ...request }))).json(), "usage");
  const split = dig(usage, "cache_creation");
  const written = [dig(split, "ephemeral_5m_input_tokens"), dig(split, "ephemeral_1h_input_tokens")];
  assert.equal(dig(usage, "cache_creation_input_tokens"), Number(written[0]) + Number(written[1]));
  return [dig(usage, "input_tokens"), dig(usage, "cache_read_input_tokens"), ...written];
}

test("a prefix is written at first sight and read afterwards; what follows it is neither", async (t) => {
  const sandbox = await openSandbox(t);
  const request = { system: [block(SYSTEM, "5m")] };
  assert.deepEqual(await usageOf(sandbox, request), [3, 0, 100, 0]);
  assert.deepEqual(await usageOf(sandbox, request), [3, 100, 0, 0]);
});

test("each stretch is written at the lifetime of the breakpoint that ends it", async (t) => {
  const sandbox = await openSandbox(t);
  const messages = [{ role: "user", content: [block(FIRST), block(SECOND, "5m")] }];
  assert.deepEqual(await usageOf(sandbox, { system: [block(SYSTEM, "1h")], messages }), [0, 0, 30, 100]);
});

test("the next turn reads the last one's prefix and writes what is new, though the breakpoint moved on", async (t) => {
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

test("a cache_control on the request itself caches the whole prompt", async (t) => {
  const sandbox = await openSandbox(t);
  const request = { system: SYSTEM, cache_control: { type: "ephemeral" } };
  assert.deepEqual(await usageOf(sandbox, request), [0, 0, 103, 0]);
  assert.deepEqual(await usageOf(sandbox, request), [0, 103, 0, 0]);
});

test("another model shares no cache, and without a breakpoint there is none", async (t) => {
  const sandbox = await openSandbox(t);
  await usageOf(sandbox, { system: [block(SYSTEM, "5m")] });
  const other = { system: [block(SYSTEM, "5m")], model: "claude-opus-5" };
  assert.deepEqual(await usageOf(sandbox, other), [3, 0, 100, 0]);
  assert.deepEqual(await usageOf(sandbox, { system: [block(SYSTEM)] }), [103, 0, 0, 0]);
});

test("/responses reads a repeated prefix from 1024 tokens up, in steps of 128, per cache key", async (t) => {
  const sandbox = await openSandbox(t);
  const cached = async (more: object): Promise<unknown> => {
    const answer = await post(sandbox, "/responses", responsesRequest({ ...more }));
    return dig(await answer.json(), "usage", "input_tokens_details", "cached_tokens");
  };
  const long = { instructions: "i".repeat(4 * 1200), prompt_cache_key: "a" };
  assert.equal(await cached(long), 0);
  assert.equal(await cached({ ...long, input: "something else" }), 1152);
  assert.equal(await cached({ ...long, prompt_cache_key: "b" }), 0);
  const short = { instructions: "i".repeat(4 * 1000) };
  assert.equal(await cached(short), 0);
  assert.equal(await cached(short), 0);
});

test("a tool's prefix is the same without the breakpoint that it had", async (t) => {
  const sandbox = await openSandbox(t);
  const tool = { name: "weather", input_schema: { type: "object" } };
  const marked = { ...tool, cache_control: { type: "ephemeral" } };
  const [, , written] = await usageOf(sandbox, { tools: [marked] });
  assert.notEqual(written, 0);
  const second = { ...marked, name: "calendar" };
  assert.equal((await usageOf(sandbox, { tools: [tool, second] }))[1], written);
});

test("the memory of prefixes is bounded, and forgets first what was not seen for longest", () => {
  const memory = new PrefixMemory();
  for (let at = 0; at < 2000; at += 1) memory.remember(`${at}`);
  memory.remember("0");
  memory.remember("one more");
  assert.deepEqual(
    ["0", "1", "2", "one more"].map((hash) => memory.has(hash)),
    [true, false, true, true],
  );
});
