import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../../src/core/json.ts";
import { CumulativeUsage } from "../../../../src/core/usage/chat/cumulative-usage.ts";

function merge(first: JsonObject, ...later: JsonObject[]): JsonObject {
  const usage = new CumulativeUsage(first);
  for (const one of later) usage.add(one);
  return usage.fields;
}

test("later numbers replace earlier ones, at every depth, and neither null nor a text replaces a number", () => {
  const first = { a: 1, b: null, details: { x: 1, y: 2, split: { m5: 0 }, later: null }, text: "s" };
  const merged = merge(first, {
    a: "no",
    b: 0,
    details: { x: 0, y: null, z: 3, split: { m5: 7 }, later: { w: 1 } },
    text: "t",
    is: true,
    c: null,
  });
  const details = { x: 0, y: 2, split: { m5: 7 }, later: { w: 1 }, z: 3 };
  assert.deepEqual(merged, { a: 1, b: 0, details, text: "t", is: true });
});

test("an object replaces no number", () => {
  assert.deepEqual(merge({ a: 1 }, { a: { b: 2 } }), { a: 1 });
});

const LONG = "x".repeat(60_000);
const LARGE = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`m${i}`, i]));

for (const [what, later] of [
  ["new names", (i: number) => ({ [`n${i}`]: i, details: { [`d${i}`]: i } })],
  ["large objects", (i: number) => ({ [`n${i}`]: LARGE })],
  ["nests", (i: number) => ({ [`n${i}`]: { [`n${i}`]: { [`n${i}`]: { [`n${i}`]: i } } } })],
  ["long names", (i: number) => ({ [LONG + i]: i })],
  ["long texts", (i: number) => ({ [`n${i}`]: LONG })],
  ["long lists", (i: number) => ({ [`n${i}`]: [LONG] })],
] as const) {
  test(`an endless stream of ${what} adds 64 short members at most`, () => {
    const added = merge({}, ...Array.from({ length: 100 }, (_, i) => later(i)));
    assert.ok(JSON.stringify(added).length < 64 * 140);
  });
}

test("names of the prototype are dropped", () => {
  const merged = merge(
    {},
    JSON.parse('{"__proto__":{"polluted":1},"constructor":{"polluted":1}}') as JsonObject,
  );
  assert.deepEqual([Object.keys(merged), Object.getPrototypeOf(merged)], [[], Object.prototype]);
  assert.equal(Reflect.get({}, "polluted"), undefined);
});
