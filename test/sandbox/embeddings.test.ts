import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../src/core/json.ts";
import { openSandbox, post, valueAt } from "./sandbox-client.ts";

const request = (more: JsonObject = {}): JsonObject => ({
  model: "text-embedding-3-small",
  input: "good morning",
  ...more,
});

test("an embedding is a vector of length 1 with 1536 dimensions, the same for the same text", async (t) => {
  const sandbox = await openSandbox(t);
  const input = ["good morning", "good night", "good morning"];
  const body = await (await post(sandbox, "/embeddings", request({ input }))).json();
  const vectorOf = (index: number) => valueAt(body, "data", index, "embedding") as number[];
  assert.equal(vectorOf(0).length, 1536);
  assert.ok(Math.abs(Math.hypot(...vectorOf(0)) - 1) < 1e-6);
  assert.deepEqual(vectorOf(0), vectorOf(2));
  assert.notDeepEqual(vectorOf(0), vectorOf(1));
  assert.deepEqual(
    (valueAt(body, "data") as JsonObject[]).map(({ object, index }) => [object, index]),
    [
      ["embedding", 0],
      ["embedding", 1],
      ["embedding", 2],
    ],
  );
});

test("an embedding bills its input as text or as tokens, and has no output", async (t) => {
  const sandbox = await openSandbox(t);
  const input = ["good morning", [1, 2, 3, 4]];
  const body = await (await post(sandbox, "/embeddings", request({ input }))).json();
  assert.deepEqual(valueAt(body, "usage"), { prompt_tokens: 7, total_tokens: 7 });
  assert.deepEqual(sandbox.counts(), [
    {
      key: "default",
      route: "/embeddings",
      count: { requests: 1, input_uncached: 7, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 },
    },
  ]);
});

test("base64 holds the same numbers, and dimensions sets how many", async (t) => {
  const sandbox = await openSandbox(t);
  const small = request({ dimensions: 8 });
  const plain = await (await post(sandbox, "/embeddings", small)).json();
  const coded = await (await post(sandbox, "/embeddings", { ...small, encoding_format: "base64" })).json();
  const bytes = Buffer.from(String(valueAt(coded, "data", 0, "embedding")), "base64");
  const numbers = Array.from({ length: 8 }, (_, at) => bytes.readFloatLE(4 * at));
  assert.equal(bytes.length, 32);
  assert.deepEqual(numbers, valueAt(plain, "data", 0, "embedding"));
});

test("no-usage leaves the usage of an embedding out", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/embeddings", request(), { "x-sandbox": "no-usage" });
  assert.equal(valueAt(await response.json(), "usage"), undefined);
  assert.equal(valueAt(sandbox.counts(), 0, "count", "input_uncached"), 3);
});
