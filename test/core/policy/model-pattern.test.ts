import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { checkModelPattern, matchesModel } from "../../../src/core/policy/model-pattern.ts";

for (const [pattern, model, expected] of [
  ["gpt-5", "gpt-5", true],
  ["gpt-5", "gpt-5-mini", false],
  ["gpt-5*", "gpt-5", true],
  ["gpt-5*", "gpt-5-mini", true],
  ["*mini", "gpt-5-mini", true],
  ["*", "", true],
  ["*-*-*", "a-b", false],
  ["*-*-*", "a-b-c", true],
  ["ab*ba", "aba", false],
  ["a*b*a", "aba", true],
  ["GPT*", "gpt-5", false],
  ["gpt.5", "gpt-5", false],
  ["[a-z]*", "gpt-5", false],
] as const) {
  test(`${pattern} ${expected ? "matches" : "does not match"} "${model}"`, () => {
    assert.equal(matchesModel([pattern], model), expected);
  });
}

test("one matching pattern is enough, and none matches nothing", () => {
  assert.ok(matchesModel(["a", "b*"], "bc"));
  assert.ok(!matchesModel([], "bc"));
});

test("a pattern matches like the regular expression with .* for each star", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 12 });
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "-", "*"), maxLength: 8 });
  fc.assert(
    fc.property(pattern, letters, (one, model) => {
      const expected = new RegExp(`^${one.replaceAll("*", ".*")}$`).test(model);
      assert.equal(matchesModel([one], model), expected);
    }),
  );
});

test("a pattern of many stars takes no time", () => {
  assert.ok(!matchesModel([`${"*a".repeat(100)}*b`], "a".repeat(1000)));
});

test("a pattern is printable, not empty and not endless", () => {
  assert.equal(checkModelPattern("qwen/*:free"), null);
  for (const text of ["", "a b", "a\n", "a".repeat(257)]) assert.notEqual(checkModelPattern(text), null);
});
