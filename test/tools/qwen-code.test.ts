import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentOf, firstFile, toolOfProcess, toolOfRequest, writtenObject } from "./tool-support.ts";

const BASE_URL = "http://127.0.0.1:8655/t/qwen-code";
const MODEL = "claude-sonnet-5";

test("Qwen Code is connected by an entry in its list of models that speaks Messages, and by a variable for the key", () => {
  const envKey = "TOLLKEEPER_QWEN_CODE";
  assert.deepEqual(writtenObject("qwen-code", "~/.qwen/settings.json"), {
    security: { auth: { selectedType: "anthropic" } },
    env: { [envKey]: "tk-qwen-code" },
    modelProviders: { anthropic: [{ name: "tollkeeper", id: MODEL, baseUrl: BASE_URL, envKey }] },
    model: { name: MODEL },
  });
});

test("Qwen Code is run with flags that choose Messages and the model", () => {
  assert.deepEqual(environmentOf("qwen-code"), {
    variables: { ANTHROPIC_BASE_URL: BASE_URL, ANTHROPIC_API_KEY: "tk-qwen-code" },
    flags: ["--auth-type", "anthropic", "--model", MODEL],
  });
});

test("Qwen Code's settings are in QWEN_HOME", () => {
  assert.equal(firstFile("qwen-code", { QWEN_HOME: "/etc/c" }), "/etc/c/settings.json");
});

test("Qwen Code is recognized by Claude Code's User-Agent without Claude Code's session id", () => {
  assert.equal(
    toolOfRequest({ "user-agent": "claude-cli/0.24.4 (external, cli)" }),
    "qwen-code by signature",
  );
  assert.equal(toolOfRequest({ "user-agent": "QwenCode/0.24.4 (linux; x64)" }), "qwen-code by signature");
});

for (const path of [
  "/usr/bin/node > /usr/local/bin/qwen",
  "/usr/bin/node > /x/node_modules/@qwen-code/qwen-code/cli-entry.js",
]) {
  test(`${path} is a process of Qwen Code`, () => assert.equal(toolOfProcess(path), "qwen-code"));
}
