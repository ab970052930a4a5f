import assert from "node:assert/strict";
import { test } from "node:test";
import { findKeys } from "../../../src/cli/dotfiles/find-keys.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const OWN = "held+by/tollkeeper=1";
const RANDOM = "Qm9uZGVkIHdhcmVob3VzZSA0MjE3";

/** Returns each finding as `LINE NAME`, followed by `!` for a key that tollkeeper holds. */
function found(text: string): string[] {
  return findKeys(text, [new Secret(OWN)]).map(
    ({ line, name, isOwn }) => `${line} ${name}${isOwn ? "!" : ""}`,
  );
}

const KEYS: [string, string][] = [
  [`export ANTHROPIC_API_KEY=sk-ant-api03-${RANDOM}`, "1 ANTHROPIC_API_KEY"],
  [`OPENAI_API_KEY='sk-proj-${RANDOM}'`, "1 OPENAI_API_KEY"],
  [`set -gx OPENAI_API_KEY ${RANDOM}`, "1 OPENAI_API_KEY"],
  [`setenv GATEWAY_AUTH_TOKEN "${RANDOM}"`, "1 GATEWAY_AUTH_TOKEN"],
  [`SETUVAR --export OPENAI_API_KEY:sk\\x2dproj\\x2d${RANDOM}`, "1 OPENAI_API_KEY"],
  [`{"env":{"ANTHROPIC_AUTH_TOKEN":"${RANDOM}","A":"b"}}`, "1 ANTHROPIC_AUTH_TOKEN"],
  [`{"primaryApiKey":"sk-ant-api03-${RANDOM}"}`, "1 primaryApiKey"],
  [`{"anthropic":{"type":"api","key":"sk-${RANDOM}"}}`, "1 key"],
  [`http_headers = { "x-api-key" = "${RANDOM}" }`, "1 x-api-key"],
  [`    apiKey: ${RANDOM}`, "1 apiKey"],
  [`openai-api-key: ${RANDOM} # mine`, "1 openai-api-key"],
  [`alias c="ANTHROPIC_API_KEY=sk-ant-${RANDOM} claude"`, "1 c"],
  [`ANTHROPIC_CUSTOM_HEADERS="x-api-key: sk-ant-${RANDOM}"`, "1 ANTHROPIC_CUSTOM_HEADERS"],
  [`#OPENAI_API_KEY=sk-${RANDOM}`, "1 OPENAI_API_KEY"],
  [`\n\nsk-${RANDOM}`, "3 null"],
  [`ANYTHING="${OWN}"`, "1 ANYTHING!"],
  [`{"url":"https://x/?key=held%2Bby%2Ftollkeeper%3D1"}`, "1 url!"],
  [`curl -H "authorization: Bearer ${OWN}"`, "1 null!"],
];

for (const [line, expected] of KEYS) {
  test(`finds a key in ${JSON.stringify(line)}`, () => assert.deepEqual(found(line), [expected]));
}

const NO_KEYS = [
  'ANTHROPIC_AUTH_TOKEN="placeholder"',
  "ANTHROPIC_AUTH_TOKEN=x",
  "OPENAI_API_KEY=",
  "OPENAI_API_KEY=$SOME_OTHER_VARIABLE_0123456789",
  'OPENAI_API_KEY="${SOME_OTHER_VARIABLE_0123456789}"',
  "OPENAI_API_KEY=$(pass show openai/api-key-0123456789)",
  '"apiKey": "{env:OPENAI_API_KEY_0123456789}"',
  '"apiKey": "tk-claude-code-0123456789abcdef"',
  '"apiKey": "tollkeeper-codex-0123456789abcdef"',
  `"ANTHROPIC_AUTH_TOKEN": "tollkeeper-claude-code-Qm-sk-${RANDOM}_-xZ"`,
  '"apiKey": "your-api-key-0123456789abcdef"',
  '"apiKey": "~/.keys/api-key-0123456789abcdef"',
  "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "OPENAI_API_KEY=sk-your-key-goes-here-1234567",
  '"apiKeyHelper": "/usr/local/bin/print-key-0123456789"',
  `GITHUB_TOKEN=ghp_${RANDOM}`,
  `CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-${RANDOM}`,
  `"access_token": "eyJhbGciOiJSUzI1NiJ9.${RANDOM}.${RANDOM}"`,
  `git clone https://host/task-${RANDOM}`,
];

for (const line of NO_KEYS) {
  test(`finds no key in ${JSON.stringify(line)}`, () => assert.deepEqual(found(line), []));
}

test("a line of several megabytes is searched in linear time", () => {
  for (const piece of ["a", '{"a":"', "sk-", "a='\"", "set -a "]) {
    const line = `${piece.repeat(300_000)} "apiKey": "sk-${RANDOM}"`;
    assert.ok(found(line).includes("1 apiKey") || found(line).includes("1 null"), piece);
  }
});
