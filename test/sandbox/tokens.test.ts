import assert from "node:assert/strict";
import { test } from "node:test";
import { countTokens, firstTokens, splitInChunks } from "../../src/sandbox/tokens.ts";

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

test("the first tokens of a text never end within a character", () => {
  assert.equal(firstTokens("abcdef", 1), "abcd");
  assert.equal(firstTokens("abc🙂", 1), "abc");
  assert.equal(firstTokens("🙂🙂", 1), "🙂");
  assert.equal(firstTokens("abc", 9), "abc");
  assert.equal(firstTokens("abc", 0), "");
});

test("the chunks of a text join to the text, surrogate pairs whole", () => {
  const text = `${"x".repeat(15)}🙂 and so on`;
  const chunks = splitInChunks(text);
  assert.equal(chunks.join(""), text);
  assert.equal(chunks[0], `${"x".repeat(15)}🙂`);
  assert.deepEqual(splitInChunks(""), []);
});
