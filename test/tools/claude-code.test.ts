import assert from "node:assert/strict";
import { test } from "node:test";
import {
  environmentOf,
  findTool,
  firstFile,
  plansFor,
  toolOfProcess,
  toolOfRequest,
  writtenObject,
} from "./tool-support.ts";

const ENV = {
  ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/claude-code",
  ANTHROPIC_AUTH_TOKEN: "tk-claude-code",
  ENABLE_TOOL_SEARCH: "true",
};

test("Claude Code is connected by variables in its user settings, or in the project's settings that are not committed", () => {
  assert.deepEqual(writtenObject("claude-code", "~/.claude/settings.json", { model: null }), { env: ENV });
  const [, project] = plansFor(findTool("claude-code"));
  assert.deepEqual(
    project?.files.map(({ path }) => path),
    ["/home/ada/project/.claude/settings.local.json"],
  );
});

test("Claude Code is run with the same variables, and one for the model", () => {
  assert.deepEqual(environmentOf("claude-code"), {
    variables: { ...ENV, ANTHROPIC_MODEL: "claude-sonnet-5" },
    flags: [],
  });
});

test("Claude Code's settings are in CLAUDE_CONFIG_DIR, unless that is relative", () => {
  assert.equal(firstFile("claude-code", { CLAUDE_CONFIG_DIR: "/etc/c" }), "/etc/c/settings.json");
  assert.equal(firstFile("claude-code", { CLAUDE_CONFIG_DIR: "c" }), "~/.claude/settings.json");
});

test("Claude Code is recognized by its session id, and its model discovery by the User-Agent", () => {
  const userAgent = "claude-cli/2.1.329 (external, cli)";
  assert.equal(
    toolOfRequest({ "user-agent": userAgent, "x-claude-code-session-id": "s1" }),
    "claude-code by signature",
  );
  assert.equal(toolOfRequest({ "user-agent": "claude-code/2.1.329" }), "claude-code by signature");
});

for (const path of [
  "/home/u/.local/share/claude/versions/2.1.329",
  "/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe",
  "/x/node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude",
  "/home/u/.vscode/extensions/anthropic.claude-code-2.1.0/resources/native-binary/claude",
  "/usr/bin/node > /usr/local/bin/claude",
]) {
  test(`${path} is a process of Claude Code`, () => assert.equal(toolOfProcess(path), "claude-code"));
}
