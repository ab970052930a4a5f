import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../../src/core/json.ts";
import { mergeUsage } from "../../../../src/core/usage/chat/merge-usage.ts";

test("later numbers replace earlier ones, also of details, and nothing else replaces a number", () => {
  const usage = { a: 1, b: null, details: { x: 1, y: 2 }, text: "s" };
  mergeUsage(usage, { a: "no", b: 0, details: { x: 0, y: null, z: 3 }, text: "t", c: null });
  assert.deepEqual(usage, { a: 1, b: 0, details: { x: 0, y: 2, z: 3 }, text: "t" });
});

test("an endless stream of new names adds 64 members, at the top and in details", () => {
  const usage = { details: {} };
  for (let i = 0; i < 1_000; i++) mergeUsage(usage, { [`n${i}`]: i, details: { [`d${i}`]: i, text: "x" } });
  assert.deepEqual([Object.keys(usage).length, Object.keys(usage.details).length], [64, 64]);
});

test("a member called __proto__ reaches no prototype", () => {
  const usage = {};
  mergeUsage(usage, JSON.parse('{"__proto__":{"polluted":1},"constructor":{"polluted":1}}') as JsonObject);
  assert.equal(Reflect.get(usage, "polluted"), undefined);
  assert.equal(Object.getPrototypeOf(usage), Object.prototype);
  assert.equal(Reflect.get({}, "polluted"), undefined);
});
