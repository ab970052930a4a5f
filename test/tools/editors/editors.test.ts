import assert from "node:assert/strict";
import { test } from "node:test";
import { PROCESS_SIGNATURES, TOOLS } from "../../../src/tools/all.ts";
import {
  conflictsOf,
  findTool,
  HOST,
  endpointFor,
  toolOfProcess,
  toolOfRequest,
  writtenObject,
} from "../tool-support.ts";

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

test("Zed is connected by the URL of Anthropic's provider, and for other models by a provider for Chat Completions", () => {
  const path = "~/.config/zed/settings.json";
  const language_models = { anthropic: { api_url: "http://127.0.0.1:8655/t/zed" } };
  const default_model = { provider: "anthropic", model: "claude-sonnet-5" };
  assert.deepEqual(writtenObject("zed", path), { language_models, agent: { default_model } });
  assert.deepEqual(writtenObject("zed", path, { model: null }), { language_models });
  const tollkeeper = {
    api_url: "http://127.0.0.1:8655/t/zed/v1",
    available_models: [{ name: "qwen3-coder:30b", max_tokens: 128_000 }],
  };
  assert.deepEqual(writtenObject("zed", path, { model: "qwen3-coder:30b" }), {
    language_models: { ...language_models, openai_compatible: { tollkeeper } },
    agent: { default_model: { provider: "tollkeeper", model: "qwen3-coder:30b" } },
  });
});

test("Zed's requests are recognized by their User-Agent", () => {
  assert.equal(toolOfRequest({ "user-agent": "Zed/1.9.0 (linux; x86_64)" }), "zed by signature");
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
  const openai_compatible = { tollkeeper: { api_url: "https://models.work.example/v1" } };
  assert.deepEqual(conflictsOf("zed", { [path]: { language_models: { openai_compatible } } }), {
    [`${path} (language_models.openai_compatible.tollkeeper.api_url): it is another base URL`]: {},
  });
});

for (const name of ["jetbrains", "vscode"]) {
  test(`what to enter in ${name} includes the base URL for Chat Completions`, () => {
    const { remarks } = findTool(name).plan(HOST, endpointFor(name), "user");
    assert.match(
      remarks.join("\n"),
      new RegExp(`http://127.0.0.1:8655/t/${name}/v1(?:/chat/completions)?[ \n]`),
    );
  });
}
