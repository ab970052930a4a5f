import assert from "node:assert/strict";
import { test } from "node:test";
import { countTokens, truncateToTokens, splitIntoChunks } from "../../../src/sandbox/generation/tokens.ts";

for (const [text, tokens] of [
  ["", 0],
  ["a", 1],
  ["abcd", 1],
  ["abcde", 2],
  ["ééé", 2],
  ["🙂", 1],
] as const) {
  test(`"${text}" counts ${tokens} tokens`, () => assert.equal(countTokens(text), tokens));
}

test("truncateToTokens never splits a character", () => {
  assert.equal(truncateToTokens("abcdef", 1), "abcd");
  assert.equal(truncateToTokens("abc🙂", 1), "abc");
  assert.equal(truncateToTokens("🙂🙂", 1), "🙂");
  assert.equal(truncateToTokens("abc", 9), "abc");
  assert.equal(truncateToTokens("abc", 0), "");
});

test("splitIntoChunks returns chunks that join to the text and never splits a surrogate pair", () => {
  const text = `${"x".repeat(15)}🙂 and so on`;
  const chunks = splitIntoChunks(text);
  assert.equal(chunks.join(""), text);
  assert.equal(chunks[0], `${"x".repeat(15)}🙂`);
  assert.deepEqual(splitIntoChunks(""), []);
});
