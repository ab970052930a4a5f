import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conflictsOf,
  firstFile,
  toolOfProcess,
  toolOfRequest,
  writtenFiles,
  writtenObject,
} from "./tool-support.ts";

test("Pi is connected by its built-in providers", () => {
  const providers = {
    anthropic: { baseUrl: "http://127.0.0.1:8655/t/pi", apiKey: "tk-pi" },
    openai: { baseUrl: "http://127.0.0.1:8655/t/pi/v1", apiKey: "tk-pi" },
  };
  assert.deepEqual(Object.keys(writtenFiles("pi", { model: null })), ["~/.pi/agent/models.json"]);
  assert.deepEqual(writtenObject("pi", "~/.pi/agent/models.json"), { providers });
});

test("a model that the user chooses for Pi goes into its other file", () => {
  const chosen = { defaultProvider: "openai", defaultModel: "gpt-5.5" };
  assert.deepEqual(writtenObject("pi", "~/.pi/agent/settings.json", { model: "gpt-5.5" }), chosen);
});

test("Pi is connected for models of Chat Completions by a provider of ours, which it asks for usage", () => {
  const model = "qwen3-coder:30b";
  const written = writtenObject("pi", "~/.pi/agent/models.json", { model }) as { providers: object };
  const { tollkeeper } = written.providers as { tollkeeper: object };
  assert.deepEqual(tollkeeper, {
    baseUrl: "http://127.0.0.1:8655/t/pi/v1",
    apiKey: "tk-pi",
    api: "openai-completions",
    models: [{ id: model, name: model }],
  });
  const chosen = { defaultProvider: "tollkeeper", defaultModel: model };
  assert.deepEqual(writtenObject("pi", SETTINGS, { model }), chosen);
  assert.deepEqual(conflictsOf("pi", { [SETTINGS]: chosen }), {});
});

test("Pi's settings are in PI_CODING_AGENT_DIR", () => {
  assert.equal(firstFile("pi", { PI_CODING_AGENT_DIR: "/etc/c" }), "/etc/c/models.json");
});

test("Pi is recognized by its session header, and for older Claude models by the beta it asks for", () => {
  assert.equal(toolOfRequest({ "user-agent": "OpenAI/JS 6.26.0", session_id: "s1" }), "pi by signature");
  const browserMode = {
    "user-agent": "Anthropic/JS 0.91.1",
    "anthropic-dangerous-direct-browser-access": "true",
  };
  const beta = { "anthropic-beta": "interleaved-thinking-2025-05-14" };
  assert.equal(toolOfRequest({ ...browserMode, ...beta }), "pi by signature");
  assert.equal(toolOfRequest(browserMode), "langchain by library");
});

test("Pi is recognized by the title that its process gives itself", () => {
  assert.equal(toolOfProcess("/usr/bin/node > pi"), "pi");
});

const SETTINGS = "~/.pi/agent/settings.json";

test("Pi's requests go elsewhere by another default provider that has a default model, the user's or the project's", () => {
  const other = { defaultProvider: "ollama", defaultModel: "llama3.1:8b" };
  const reason = "(defaultProvider): Pi uses the provider ollama";
  assert.deepEqual(conflictsOf("pi", { [SETTINGS]: other }), { [`${SETTINGS} ${reason}`]: "needs a model" });
  assert.deepEqual(conflictsOf("pi", { [SETTINGS]: other }, { model: "gpt-5.5" }), {
    [`${SETTINGS} ${reason}`]: { defaultProvider: "openai", defaultModel: "gpt-5.5" },
  });
  assert.deepEqual(conflictsOf("pi", { [SETTINGS]: { defaultProvider: "ollama" } }), {});
  const here = { defaultProvider: "anthropic", defaultModel: "claude-sonnet-5" };
  assert.deepEqual(conflictsOf("pi", { [SETTINGS]: here, "./.pi/settings.json": other }), {
    [`./.pi/settings.json ${reason}`]: "needs a model",
  });
  assert.deepEqual(conflictsOf("pi", { [SETTINGS]: other, "./.pi/settings.json": here }), {});
});

test("Pi's requests go elsewhere where it offers models of other providers only", () => {
  const enabledModels = ["ollama/*", "openrouter/some/model"];
  assert.deepEqual(conflictsOf("pi", { [SETTINGS]: { enabledModels } }, { model: "claude-sonnet-5" }), {
    [`${SETTINGS} (enabledModels): it leaves only models of other providers`]: {
      enabledModels: [...enabledModels, "anthropic/claude-sonnet-5"],
    },
  });
  for (const pattern of ["claude-*", "anthropic/*"]) {
    assert.deepEqual(conflictsOf("pi", { [SETTINGS]: { enabledModels: [...enabledModels, pattern] } }), {});
  }
});
