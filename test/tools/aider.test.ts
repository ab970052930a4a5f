import assert from "node:assert/strict";
import { test } from "node:test";
import { applySettings } from "../../src/connect/edit/apply-settings.ts";
import { undoSettings } from "../../src/connect/edit/undo-settings.ts";
import {
  conflictsOf,
  environmentOf,
  findTool,
  plansFor,
  toolOfProcess,
  writtenFiles,
} from "./tool-support.ts";

test("aider is run with the variables of the library below it, and with a model qualified by its provider", () => {
  assert.deepEqual(environmentOf("aider"), {
    variables: {
      ANTHROPIC_API_BASE: "http://127.0.0.1:8655/t/aider",
      ANTHROPIC_API_KEY: "tk-aider",
      AIDER_MODEL: "anthropic/claude-sonnet-5",
    },
    flags: [],
  });
});

for (const path of ["/usr/bin/python3.11 > aider", "/usr/bin/python3 > /home/u/.local/bin/aider"]) {
  test(`${path} is a process of aider`, () => assert.equal(toolOfProcess(path), "aider"));
}

const FILE = "~/.aider.conf.yml";

test("aider is connected in its own file: by a variable that it sets, a key and a model with its provider", () => {
  assert.equal(
    writtenFiles("aider")[FILE],
    `set-env:
  - ANTHROPIC_API_BASE=http://127.0.0.1:8655/t/aider
anthropic-api-key: tk-aider
model: anthropic/claude-sonnet-5
`,
  );
});

const CHAT = { model: "qwen3-coder:30b" };

test("aider is connected for other models with Chat Completions, and its library is told to ask for usage", () => {
  assert.deepEqual(writtenFiles("aider", CHAT), {
    [FILE]: `openai-api-base: http://127.0.0.1:8655/t/aider/v1
openai-api-key: tk-aider
model: openai/qwen3-coder:30b
`,
    "~/.aider.model.settings.yml": `- name: aider/extra_params
  extra_params:
    stream_options:
      include_usage: true
`,
  });
});

test("aider is run for other models with the variables of OpenAI", () => {
  assert.deepEqual(environmentOf("aider", CHAT)?.variables, {
    OPENAI_BASE_URL: "http://127.0.0.1:8655/t/aider/v1",
    OPENAI_API_KEY: "tk-aider",
    AIDER_MODEL: "openai/qwen3-coder:30b",
  });
});

test("aider's settings for models are added to the list that the user has", () => {
  const file = plansFor(findTool("aider"), CHAT)[0]?.files[1];
  assert.ok(file);
  const before = "- name: openai/mine   # tuned\n  edit_format: diff\n";
  const { text, undo } = applySettings(before, file, "aider");
  assert.ok(text.startsWith(`${before}- name: aider/extra_params\n`), text);
  assert.equal(undoSettings(text, undo).text, before);
});

test("aider's requests for Chat Completions go elsewhere by another base URL, and take another key along", () => {
  const here = { "openai-api-base": "http://127.0.0.1:8655/t/aider/v1", model: "openai/qwen3-coder:30b" };
  assert.deepEqual(conflictsOf("aider", { [FILE]: here }), {});
  assert.deepEqual(conflictsOf("aider", { [FILE]: { ...here, "openai-api-base": "https://a.example/v1" } }), {
    [`${FILE} (model): it chooses openai/qwen3-coder:30b`]: {},
  });
  const env = { OPENAI_BASE_URL: "https://a.example/v1", AIDER_OPENAI_API_KEY: "sk-other" };
  assert.deepEqual(conflictsOf("aider", { [FILE]: here }, { env }), {
    "env (OPENAI_BASE_URL): it is another base URL": {},
    "env (openai-api-key): it is sent instead of tollkeeper's": {},
  });
});

test("aider's variables are added to those that its file sets", () => {
  const [file] = plansFor(findTool("aider"))[0]?.files ?? [];
  assert.ok(file);
  const before = "set-env:\n  - A=1   # mine\n  - B=2\nmodel: gpt-5\n";
  const { text, undo } = applySettings(before, file, "aider");
  assert.match(text, /^set-env:\n  - A=1   # mine\n  - B=2\n  - ANTHROPIC_API_BASE=http:\S+\n/);
  assert.equal(undoSettings(text, undo).text, before);
  // The user adds one more in the meantime.
  const edited = undoSettings(text.replace("  - B=2\n", "  - B=2\n  - C=3\n"), undo);
  assert.deepEqual([edited.text, edited.isExact], [before.replace("B=2\n", "B=2\n  - C=3\n"), false]);
});

test("aider's requests go elsewhere by another maker's model, in any of its settings for models", () => {
  const settings = { model: "sonnet", "weak-model": "gpt-5-mini", "editor-model": "anthropic/claude-x" };
  const options = { model: "claude-sonnet-5" };
  assert.deepEqual(conflictsOf("aider", { [FILE]: settings }, options), {
    [`${FILE} (weak-model): it chooses gpt-5-mini`]: { "weak-model": "anthropic/claude-sonnet-5" },
  });
  const project = { "./.aider.conf.yml": { model: "openrouter/anthropic/claude-x" } };
  assert.deepEqual(conflictsOf("aider", { [FILE]: { model: "sonnet" }, ...project }), {
    "./.aider.conf.yml (model): it chooses openrouter/anthropic/claude-x": {},
  });
  assert.deepEqual(conflictsOf("aider", {}, { env: { AIDER_WEAK_MODEL: "deepseek/v3" } }), {
    "env (weak-model): it chooses deepseek/v3": {},
  });
});

test("aider's variables for its base URL and key override its file", () => {
  const base = "http://127.0.0.1:8655/t/aider";
  const here = { [FILE]: { "set-env": [`ANTHROPIC_API_BASE=${base}`] } };
  const find = (env: Record<string, string>) => Object.keys(conflictsOf("aider", here, { env }));
  assert.deepEqual(find({ AIDER_SET_ENV: "A=1", AIDER_ANTHROPIC_API_KEY: "sk-ant-other" }), [
    "env (set-env): it sets ANTHROPIC_API_BASE to another base URL, or leaves it out",
    "env (anthropic-api-key): it is sent instead of tollkeeper's",
  ]);
  for (const value of [`ANTHROPIC_API_BASE=${base}`, `[A=1, ANTHROPIC_API_BASE=${base}]`])
    assert.deepEqual(find({ AIDER_SET_ENV: value, AIDER_ANTHROPIC_API_KEY: "tk-aider" }), []);
});

test("aider's requests go elsewhere where a project's set-env replaces the user's", () => {
  const here = { "set-env": ["A=1", "ANTHROPIC_API_BASE=http://127.0.0.1:8655/t/aider"] };
  assert.deepEqual(conflictsOf("aider", { [FILE]: here }), {});
  const reason = "it sets ANTHROPIC_API_BASE to another base URL, or leaves it out";
  assert.deepEqual(conflictsOf("aider", { [FILE]: here, "./.aider.conf.yml": { "set-env": ["B=2"] } }), {
    [`./.aider.conf.yml (set-env): ${reason}`]: {},
  });
});
