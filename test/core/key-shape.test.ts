import assert from "node:assert/strict";
import { test } from "node:test";
import { blotKeys } from "../../src/core/key-shape.ts";

const RANDOM = "Qm9uZGVkIHdhcmVob3VzZSA0MjE3";

const BLOTTED: [text: string, secret: string][] = [
  [`key = "sk-proj-${RANDOM}"`, `sk-proj-${RANDOM}`],
  [`# was sk-ant-api03-${RANDOM}, once`, `sk-ant-api03-${RANDOM}`],
  [`  apiKey: ${RANDOM}`, RANDOM],
  [`{"a":{"ANTHROPIC_AUTH_TOKEN":"${RANDOM}"}}\r`, RANDOM],
  [`export GATEWAY_API_KEY='${RANDOM}' # and ${RANDOM}`, RANDOM],
  [`CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-${RANDOM}`, `sk-ant-oat01-${RANDOM}`],
  [`"access": "eyJhbGciOiJSUzI1NiJ9.${RANDOM}.${RANDOM}"`, `eyJhbGciOiJSUzI1NiJ9.${RANDOM}.${RANDOM}`],
];

for (const [text, secret] of BLOTTED) {
  test(`what is secret becomes asterisks in ${JSON.stringify(text)}`, () => {
    assert.equal(blotKeys(`a\n${text}\nb`), `a\n${text.replaceAll(secret, "*".repeat(secret.length))}\nb`);
  });
}

test("placeholders, addresses and words stay", () => {
  const text = `"apiKey": "tollkeeper-codex-0123456789abcdef"\nsk-xxxxxxxxxxxxxxxxxxxxxxxxx\n"id": "${RANDOM}"\n`;
  assert.equal(blotKeys(text), text);
});
