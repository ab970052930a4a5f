import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictsOf, firstFile, toolOfProcess, toolOfRequest, writtenFiles } from "./tool-support.ts";

test("Continue is connected by an entry in its list of models, which cn starts with", () => {
  assert.deepEqual(writtenFiles("continue"), {
    "~/.continue/config.yaml": [
      "name: Local Config",
      "version: 1.0.0",
      "schema: v1",
      "models:",
      "  - name: tollkeeper",
      "    provider: anthropic",
      "    model: claude-sonnet-5",
      "    apiBase: http://127.0.0.1:8655/t/continue/v1",
      "    apiKey: tk-continue\n",
    ].join("\n"),
    "~/.continue/index/globalContext.json": '{\n  "cliSelectedModel": "tollkeeper"\n}\n',
  });
});

test("Continue is connected by OpenAI's provider for models of Chat Completions", () => {
  const text = writtenFiles("continue", { model: "qwen3-coder:30b" })["~/.continue/config.yaml"] ?? "";
  assert.match(text, /^    provider: openai\n    model: qwen3-coder:30b\n    apiBase: http:\S+\/v1$/m);
});

test("Continue's settings are in CONTINUE_GLOBAL_DIR", () => {
  assert.equal(firstFile("continue", { CONTINUE_GLOBAL_DIR: "/etc/c" }), "/etc/c/config.yaml");
});

test("Continue is recognized by the User-Agents of its two libraries", () => {
  for (const userAgent of ["node-fetch", "ls/JS 5.23.2"])
    assert.equal(toolOfRequest({ "user-agent": userAgent }), "continue by signature");
});

test("/usr/bin/node-22 > /x/node_modules/@continuedev/cli/dist/cn.js is a process of Continue", () => {
  assert.equal(toolOfProcess("/usr/bin/node-22 > /x/node_modules/@continuedev/cli/dist/cn.js"), "continue");
});

test("Continue's requests go elsewhere once another model was chosen in cn", () => {
  const path = "~/.continue/index/globalContext.json";
  assert.deepEqual(conflictsOf("continue", { [path]: { cliSelectedModel: "tollkeeper" } }), {});
  assert.deepEqual(conflictsOf("continue", { [path]: { cliSelectedModel: "Local" } }), {
    [`${path} (cliSelectedModel): cn starts with the model Local`]: {},
  });
});
