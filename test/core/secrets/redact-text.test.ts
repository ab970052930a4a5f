import assert from "node:assert/strict";
import { test } from "node:test";
import { redactSecrets } from "../../../src/core/secrets/redact-text.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const RANDOM = "Qm9uZGVkIHdhcmVob3VzZSA0MjE3";

const REDACTED: [text: string, secret: string][] = [
  [`key = "sk-proj-${RANDOM}"`, `sk-proj-${RANDOM}`],
  [`# was sk-ant-api03-${RANDOM}, once`, `sk-ant-api03-${RANDOM}`],
  [`  apiKey: ${RANDOM}`, RANDOM],
  [`{"a":{"ANTHROPIC_AUTH_TOKEN":"${RANDOM}"}}\r`, RANDOM],
  [`export GATEWAY_API_KEY='${RANDOM}' # and ${RANDOM}`, RANDOM],
  [`CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-${RANDOM}`, `sk-ant-oat01-${RANDOM}`],
  [`"access": "eyJhbGciOiJSUzI1NiJ9.${RANDOM}.${RANDOM}"`, `eyJhbGciOiJSUzI1NiJ9.${RANDOM}.${RANDOM}`],
  [`experimental_bearer_token = "${RANDOM}"`, RANDOM],
  [`Authorization: Bearer ${RANDOM}`, RANDOM],
  [`"headers": { "Authorization": "Basic dXNlcjpwYXNzd29yZA==" }`, "dXNlcjpwYXNzd29yZA=="],
  [`"ANTHROPIC_CUSTOM_HEADERS": "x-api-key: ${RANDOM}"`, RANDOM],
  [`GITHUB = ghp_${RANDOM}`, `ghp_${RANDOM}`],
  [`hf: "hf_${RANDOM}"`, `hf_${RANDOM}`],
  [`//registry.example.com/:_authToken=npm_${RANDOM}`, `npm_${RANDOM}`],
  [`url: https://example.com/?v=1&k=AIza${RANDOM}`, `AIza${RANDOM}`],
  [`AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY12`, "wJalrXUtnFEMI/K7MDENG/bPxRfiCY12"],
  [`token: ${RANDOM}`, RANDOM],
  [`DATABASE_URL=postgres://u:hunter2@db.example.com/x`, "hunter2"],
  [`"base": "https://user:pass@proxy.example.com/v1"`, "pass"],
  [`"base": "https://proxy.example.com/?key=12345678&v=2"`, "12345678"],
  [`smtp_password: correct-horse`, "correct-horse"],
];

for (const [text, secret] of REDACTED) {
  test(`redacts the secret in ${JSON.stringify(text)}`, () => {
    const redacted = text.replaceAll(secret, "*".repeat(secret.length));
    assert.notEqual(redacted, text);
    assert.equal(redactSecrets(`a\n${text}\nb`, []), `a\n${redacted}\nb`);
  });
}

const KEPT = [
  `"apiKey": "tollkeeper-codex-0123456789abcdef"`,
  "sk-xxxxxxxxxxxxxxxxxxxxxxxxx",
  `"id": "${RANDOM}"`,
  `"author": "${RANDOM}"`,
  "max_tokens: 12345678901234567890",
  `"tokens": "${RANDOM}"`,
  "password: 1234567890",
  'apiKey = "{env:OPENAI_API_KEY_OF_2024}"',
  "-H 'Authorization: Bearer $TOKEN'",
  "# a bearer authentication",
  "postgres://u:$PASSWORD@db/x",
  'model = "claude-sonnet-4-20250514"',
  '"base": "http://127.0.0.1:8655/t/codex/v1?beta=true"',
];

for (const text of KEPT) {
  test(`keeps ${JSON.stringify(text)}, which has no secret`, () => {
    assert.equal(redactSecrets(text, []), text);
  });
}

test("redacts a known secret anywhere, also as JSON spells it", () => {
  const secret = new Secret("no/key+by+its=shape");
  const text = '"x": "no\\/key+by\\u002bits=shape"\nno/key+by+its=shape';
  assert.equal(redactSecrets(text, [secret]), `"x": "${"*".repeat(25)}"\n${"*".repeat(19)}`);
});

test("redacts a line of a megabyte in linear time", { timeout: 300_000 }, () => {
  for (const piece of ["a.", "://x", "?key=", "Bearer ", "sk-a", '"token":"x",', "ghp_a"]) {
    const text = piece.repeat(1_000_000 / piece.length);
    assert.equal(redactSecrets(text, []).length, text.length);
  }
});
