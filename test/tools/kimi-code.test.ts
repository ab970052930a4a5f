import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conflictsOf,
  environmentOf,
  firstFile,
  toolOfProcess,
  toolOfRequest,
  writtenFiles,
} from "./tool-support.ts";

const FILE = "~/.kimi-code/config.toml";

const entryOf = (model: string) => writtenFiles("kimi-code", { model })[FILE]?.trim().split("\n");

test("Kimi Code is connected by a provider and a model of its own, which is the default", () => {
  assert.deepEqual(entryOf("claude-sonnet-5"), [
    'default_model = "tollkeeper"',
    "",
    "[providers.tollkeeper]",
    'type = "anthropic"',
    'base_url = "http://127.0.0.1:8655/t/kimi-code"',
    'api_key = "tk-kimi-code"',
    "",
    "[models.tollkeeper]",
    'provider = "tollkeeper"',
    'model = "claude-sonnet-5"',
    "max_context_size = 200000",
  ]);
});

for (const [model, type] of [
  ["gpt-5.5", "openai_responses"],
  ["qwen3-coder:30b", "openai"],
  ["kimi-for-coding", "kimi"],
  ["moonshotai/kimi-k3", "kimi"],
  ["k3", "kimi"],
] as const) {
  test(`Kimi Code is connected for ${model} by a provider of type ${type}, and only its maker's models have its features`, () => {
    const lines = entryOf(model) ?? [];
    assert.ok(lines.includes(`type = "${type}"`));
    assert.ok(lines.includes('base_url = "http://127.0.0.1:8655/t/kimi-code/v1"'));
    assert.equal(lines.includes('capabilities = ["image_in", "thinking"]'), type === "kimi");
  });
}

test("Kimi Code is run with a model of its variables", () => {
  assert.deepEqual(environmentOf("kimi-code", { model: "gpt-5.5" }), {
    variables: {
      KIMI_MODEL_NAME: "gpt-5.5",
      KIMI_MODEL_PROVIDER_TYPE: "openai_responses",
      KIMI_MODEL_BASE_URL: "http://127.0.0.1:8655/t/kimi-code/v1",
      KIMI_MODEL_API_KEY: "tk-kimi-code",
      KIMI_MODEL_MAX_CONTEXT_SIZE: "262144",
    },
    flags: [],
  });
});

test("Kimi Code's settings are in KIMI_CODE_HOME", () => {
  assert.equal(firstFile("kimi-code", { KIMI_CODE_HOME: "/etc/k" }), "/etc/k/config.toml");
});

test("Kimi Code is recognized by its User-Agent", () => {
  assert.equal(toolOfRequest({ "user-agent": "kimi-code-cli/2.1.0" }), "kimi-code by signature");
});

for (const path of ["kimi", "/usr/bin/node > /x/node_modules/@moonshot-ai/kimi-code/dist/main.mjs"]) {
  test(`${path} is a process of Kimi Code`, () => assert.equal(toolOfProcess(path), "kimi-code"));
}

test("Kimi Code's requests go elsewhere by another default model, and by a model of its variables", () => {
  assert.deepEqual(conflictsOf("kimi-code", { [FILE]: { default_model: "tollkeeper" } }), {});
  assert.deepEqual(conflictsOf("kimi-code", { [FILE]: { default_model: "kimi-code/k3" } }), {
    [`${FILE} (default_model): Kimi Code starts with the model kimi-code/k3`]: {
      default_model: "tollkeeper",
    },
  });
  assert.deepEqual(conflictsOf("kimi-code", {}, { env: { KIMI_MODEL_NAME: "k3" } }), {
    "env (env.KIMI_MODEL_NAME): it selects a model of its vendor's service": {},
  });
  const elsewhere = { KIMI_MODEL_NAME: "k3", KIMI_MODEL_BASE_URL: "https://models.work.example/v1" };
  assert.deepEqual(conflictsOf("kimi-code", {}, { env: elsewhere }), {
    "env (env.KIMI_MODEL_BASE_URL): it is another base URL": {},
  });
  const here = { KIMI_MODEL_NAME: "k3", KIMI_MODEL_BASE_URL: "http://127.0.0.1:8655/t/kimi-code/v1" };
  assert.deepEqual(conflictsOf("kimi-code", {}, { env: here }), {});
});
