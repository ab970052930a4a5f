import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyWord,
  either,
  FLAG,
  listOf,
  mapOf,
  maybe,
  NUMBER,
  nullOr,
  objectOf,
  TEXT,
  wordOf,
} from "../../src/core/data-shape.ts";

const KEYS = objectOf({ keys: listOf(objectOf({ name: TEXT, at: nullOr(NUMBER) })), isWhole: FLAG });
const SCOPE = either(objectOf({ kind: wordOf("all") }), objectOf({ kind: anyWord<"tool">(), name: TEXT }));
const COUNTS = mapOf(NUMBER);

for (const [shape, value, fault] of [
  [KEYS, { keys: [], isWhole: true }, null],
  [KEYS, { keys: [{ name: "a", at: null, later: 1 }], isWhole: false, later: {} }, null],
  [
    KEYS,
    {
      keys: [
        { name: "a", at: 1 },
        { name: 2, at: 1 },
      ],
      isWhole: true,
    },
    "keys[1].name",
  ],
  [KEYS, { keys: [{ name: "a" }], isWhole: true }, "keys[0].at"],
  [KEYS, { keys: { name: "a", at: 1 }, isWhole: true }, "keys"],
  [KEYS, { keys: [null], isWhole: true }, "keys[0]"],
  [KEYS, { keys: [], isWhole: "true" }, "isWhole"],
  [KEYS, { keys: [] }, "isWhole"],
  [KEYS, [], ""],
  [KEYS, null, ""],
  [SCOPE, { kind: "all" }, null],
  [SCOPE, { kind: "tool", name: "a" }, null],
  [SCOPE, { kind: "tool" }, "name"],
  [COUNTS, { a: 1, b: 2 }, null],
  [COUNTS, { a: 1, b: "2" }, ".b"],
  [COUNTS, [1], ""],
  [objectOf({ hint: maybe(TEXT) }), {}, null],
  [objectOf({ hint: maybe(TEXT) }), { hint: null }, "hint"],
] as const)
  test(`${JSON.stringify(value)} ${fault === null ? "has its shape" : `has a fault at "${fault}"`}`, () => {
    assert.equal(shape.findFault(value, ""), fault);
  });
