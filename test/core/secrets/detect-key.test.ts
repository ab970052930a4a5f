import assert from "node:assert/strict";
import { test } from "node:test";
import { extractKey } from "../../../src/core/secrets/detect-key.ts";

const RANDOM = "Qm9uZGVkIHdhcmVob3VzZSA0MjE3";
const KEY = `sk-ant-api03-${RANDOM}`;

const FOUND: [name: string, value: string, key: string | null][] = [
  ["anything", KEY, KEY],
  ["anything", `echo "${KEY}"`, KEY],
  ["apiKey", RANDOM, RANDOM],
  ["ANTHROPIC_AUTH_TOKEN", `Bearer ${RANDOM}`, RANDOM],
  ["ANTHROPIC_AUTH_TOKEN", `Bearer ${KEY}`, KEY],
  ["anything", RANDOM, null],
  ["anything", `Bearer ${RANDOM}`, null],
  ["OAUTH_TOKEN", RANDOM, null],
  ["apiKey", `sk-ant-oat01-${RANDOM}`.slice(0, 19), null],
  ["apiKey", "tollkeeper-codex-0123456789abcdef", null],
  ["password", `correct-${RANDOM}`, null],
];

for (const [name, value, key] of FOUND) {
  test(`finds ${key === null ? "no key" : "a key"} in ${name} = ${JSON.stringify(value)}`, () => {
    assert.equal(extractKey(name, value), key);
  });
}
