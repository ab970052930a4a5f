import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictsOf, environmentOf, toolOfProcess, toolOfRequest, writtenFiles } from "./tool-support.ts";

test("goose is run with Anthropic's provider", () => {
  assert.deepEqual(environmentOf("goose"), {
    variables: {
      GOOSE_PROVIDER: "anthropic",
      ANTHROPIC_HOST: "http://127.0.0.1:8655/t/goose",
      ANTHROPIC_API_KEY: "tk-goose",
      GOOSE_MODEL: "claude-sonnet-5",
    },
    flags: [],
  });
});

test("goose is run with OpenAI's provider on Chat Completions for all but Claude's models", () => {
  assert.deepEqual(environmentOf("goose", { model: "qwen3-coder:30b" })?.variables, {
    GOOSE_PROVIDER: "openai",
    OPENAI_HOST: "http://127.0.0.1:8655/t/goose",
    OPENAI_BASE_PATH: "v1/chat/completions",
    OPENAI_API_KEY: "tk-goose",
    GOOSE_MODEL: "qwen3-coder:30b",
  });
});

const written = (model: string) => writtenFiles("goose", { model })["~/.config/goose/config.yaml"];

test("goose is connected by the provider that serves the model", () => {
  assert.equal(
    written("claude-sonnet-5"),
    `ANTHROPIC_HOST: http://127.0.0.1:8655/t/goose
active_provider: anthropic
providers:
  anthropic:
    enabled: true
    model: claude-sonnet-5
`,
  );
  assert.equal(
    written("qwen3-coder:30b"),
    `OPENAI_HOST: http://127.0.0.1:8655/t/goose
active_provider: openai
providers:
  openai:
    enabled: true
    model: qwen3-coder:30b
OPENAI_BASE_PATH: v1/chat/completions
`,
  );
});

test("goose is recognized by its session header", () => {
  assert.equal(toolOfRequest({ "goose-session-id": "20261123_1" }), "goose by signature");
});

test("/usr/local/bin/goose is a process of goose", () => {
  assert.equal(toolOfProcess("/usr/local/bin/goose"), "goose");
});

test("goose's requests go elsewhere by another provider, for which the variable counts first, or another host", () => {
  const path = "~/.config/goose/config.yaml";
  const here = { active_provider: "anthropic", ANTHROPIC_HOST: "http://127.0.0.1:8655/t/goose" };
  assert.deepEqual(conflictsOf("goose", { [path]: here }), {});
  assert.deepEqual(conflictsOf("goose", { [path]: { ...here, active_provider: "openai" } }), {
    [`${path} (active_provider): goose uses the provider openai`]: {},
  });
  const chat = { active_provider: "openai", OPENAI_HOST: "http://127.0.0.1:8655/t/goose" };
  assert.deepEqual(conflictsOf("goose", { [path]: chat }), {});
  assert.deepEqual(
    conflictsOf("goose", { [path]: { ...chat, OPENAI_HOST: "https://models.work.example" } }),
    {
      [`${path} (OPENAI_HOST): it is another base URL`]: {},
    },
  );
  const env = { GOOSE_PROVIDER: "databricks", ANTHROPIC_HOST: "https://models.work.example" };
  assert.deepEqual(conflictsOf("goose", { [path]: here }, { env }), {
    "env (GOOSE_PROVIDER): goose uses the provider databricks": {},
    "env (ANTHROPIC_HOST): it is another base URL": {},
  });
});
