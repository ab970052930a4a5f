import assert from "node:assert/strict";
import { test } from "node:test";
import { findBaseUrls } from "../../../src/cli/dotfiles/find-base-urls.ts";

const OURS = 8655;

/** Returns each finding as `LINE NAME PORT MARK`, followed by `plan` and `v1` where the path ends in it. */
function found(text: string): string[] {
  return findBaseUrls(text, [OURS]).map(({ line, name, port, mark, isPlan, hasVersion }) => {
    return `${line} ${name} ${port} ${mark}${isPlan ? " plan" : ""}${hasVersion ? " v1" : ""}`;
  });
}

const URLS: [string, string][] = [
  [
    "export ANTHROPIC_BASE_URL=http://127.0.0.1:8655/t/claude-code",
    "1 ANTHROPIC_BASE_URL 8655 /t/claude-code",
  ],
  ['\n  "baseURL": "http://localhost:9000/v1",', "2 baseURL 9000 null v1"],
  [
    '"ANTHROPIC_BASE_URL": "http://127.0.0.1:9000/t/claude-code/plan"',
    "1 ANTHROPIC_BASE_URL 9000 /t/claude-code plan",
  ],
  ['base_url = "http://127.0.0.1:9000/t/codex/plan/v1"', "1 base_url 9000 /t/codex plan v1"],
  ['base_url = "http://127.0.0.1:9000/t/codex/planner"', "1 base_url 9000 /t/codex"],
  ["apiBase: http://[::1]:9000/t/continue/v1/", "1 apiBase 9000 /t/continue v1"],
  ['base_url = "http://127.0.0.1:9000"', "1 base_url 9000 null"],
  ['openai_base_url = "http://127.0.0.1:9000/v1"', "1 openai_base_url 9000 null v1"],
  [
    "set -gx COPILOT_PROVIDER_BASE_URL http://127.0.0.1:9000/t/copilot",
    "1 COPILOT_PROVIDER_BASE_URL 9000 /t/copilot",
  ],
  ["alias x='tool --url http://127.0.0.1:9000/t/x'", "1 x 9000 /t/x"],
  ["tool --url http://127.0.0.1:8655/v1", "1 null 8655 null v1"],
];

for (const [text, expected] of URLS) {
  test(`finds a base URL in ${JSON.stringify(text)}`, () => assert.deepEqual(found(text), [expected]));
}

const OTHERS = [
  "# ANTHROPIC_BASE_URL=http://127.0.0.1:8655/t/claude-code",
  '  // "baseURL": "http://127.0.0.1:8655"',
  "ANTHROPIC_BASE_URL=https://api.example.com/t/x",
  "ANTHROPIC_BASE_URL=http://127.0.0.1.example.com:8655/t/x",
  "ANTHROPIC_BASE_URL=http://localhost/v1",
  'DATABASE_URL="http://localhost:5432"',
  "open http://localhost:3000/v1",
];

for (const text of OTHERS) {
  test(`finds no base URL in ${JSON.stringify(text)}`, () => assert.deepEqual(found(text), []));
}
