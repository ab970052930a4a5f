import assert from "node:assert/strict";
import { test } from "node:test";
import { PROCESS_SIGNATURES, TOOLS } from "../../../src/tools/all.ts";
import { conflictsOf, toolOfProcess, writtenObject } from "../tool-support.ts";

for (const [path, name] of [
  ["/usr/libexec/zed-editor", "zed"],
  ["/usr/share/code/code", "vscode"],
  ["/home/u/.vscode-server/bin/abc/node > /home/u/.vscode-server/bin/abc/out/bootstrap-fork", "vscode"],
  ["/Applications/Visual Studio Code.app/Contents/Frameworks/Code Helper (Plugin)", "vscode"],
  ["/home/u/.cursor-server/bin/abc/node > out/bootstrap-fork", "cursor"],
  ["/home/u/.cursor-server/bin/abc/bin/remote-cli/code", "cursor"],
  ["/Applications/Cursor.app/Contents/MacOS/Cursor", "cursor"],
  ["/opt/idea/bin/idea", "jetbrains"],
  ["/opt/pycharm/jbr/bin/java", "jetbrains"],
] as const) {
  test(`${path} is a process of ${name}`, () => assert.equal(toolOfProcess(path), name));
}

test("a tool that runs from an editor's directory is attributed to the tool", () => {
  const path = "/home/u/.cursor-server/bin/abc/node > /home/u/.cursor-server/x/@openai/codex/bin/codex.js";
  assert.equal(toolOfProcess(path), "codex");
});

test("every process signature of an editor says that it is an editor's, and no other does", () => {
  const editors = TOOLS.filter(({ isEditor }) => isEditor === true).map(({ name }) => name);
  assert.deepEqual(editors, ["zed", "vscode", "cursor", "jetbrains"]);
  for (const { tool, isEditor } of PROCESS_SIGNATURES)
    assert.equal(isEditor === true, editors.includes(tool), tool);
});

test("Zed is connected by the URL of Anthropic's provider, and by the default model where that is Claude's", () => {
  const path = "~/.config/zed/settings.json";
  const language_models = { anthropic: { api_url: "http://127.0.0.1:8655/t/zed" } };
  const default_model = { provider: "anthropic", model: "claude-sonnet-5" };
  assert.deepEqual(writtenObject("zed", path), { language_models, agent: { default_model } });
  assert.deepEqual(writtenObject("zed", path, { model: "gpt-5.5" }), { language_models });
});

test("Zed's requests go elsewhere by another provider's model for any of its features", () => {
  const path = "~/.config/zed/settings.json";
  const agent = {
    default_model: { provider: "anthropic", model: "claude-opus-5" },
    commit_message_model: { provider: "zed.dev", model: "gpt-5-nano" },
  };
  const place = `${path} (agent.commit_message_model.provider): Zed uses the provider zed.dev`;
  assert.deepEqual(conflictsOf("zed", { [path]: { agent } }), { [place]: "needs a model" });
  assert.deepEqual(conflictsOf("zed", { [path]: { agent } }, { model: "claude-sonnet-5" }), {
    [place]: {
      "agent.commit_message_model.provider": "anthropic",
      "agent.commit_message_model.model": "claude-sonnet-5",
    },
  });
  const language_models = { anthropic: { api_url: "https://models.work.example" } };
  assert.deepEqual(conflictsOf("zed", { [path]: { language_models } }), {
    [`${path} (language_models.anthropic.api_url): it is another base URL`]: {},
  });
});
