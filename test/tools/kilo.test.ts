import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conflictsOf,
  environmentOf,
  findTool,
  HOST,
  plansFor,
  toolOfProcess,
  toolOfRequest,
  writtenFiles,
  writtenObject,
} from "./tool-support.ts";

const PATH = "~/.config/kilo/kilo.json";

const options = { baseURL: "http://127.0.0.1:8655/t/kilo/v1", apiKey: "tk-kilo" };
const CONTENT = { provider: { anthropic: { options }, openai: { options } } };
const WITH_MODEL = { ...CONTENT, model: "openai/gpt-5.5" };

test("Kilo is connected by the options of both of its built-in providers", () => {
  assert.deepEqual(writtenObject("kilo", PATH, { model: null }), CONTENT);
  const openai = { options, models: { "gpt-5.5": {} } };
  assert.deepEqual(writtenObject("kilo", PATH, { model: "gpt-5.5" }), {
    ...WITH_MODEL,
    provider: { ...CONTENT.provider, openai },
  });
});

test("Kilo is connected for models of Chat Completions by a provider of ours, which asks for usage", () => {
  const model = "meta-llama/llama-4-scout";
  const tollkeeper = {
    npm: "@ai-sdk/openai-compatible",
    options: { ...options, includeUsage: true },
    models: { [model]: {} },
  };
  const expected = { provider: { ...CONTENT.provider, tollkeeper }, model: `tollkeeper/${model}` };
  assert.deepEqual(writtenObject("kilo", PATH, { model }), expected);
  const environment = environmentOf("kilo", { model });
  assert.deepEqual(JSON.parse(environment?.variables["KILO_CONFIG_CONTENT"] ?? ""), expected);
  assert.deepEqual(conflictsOf("kilo", { [PATH]: { ...expected, enabled_providers: ["tollkeeper"] } }), {});
});

test("Kilo is run with the same settings in a variable", () => {
  const environment = environmentOf("kilo", { model: "gpt-5.5" });
  assert.deepEqual(JSON.parse(environment?.variables["KILO_CONFIG_CONTENT"] ?? ""), WITH_MODEL);
});

test("Kilo's settings go into the .jsonc file where one exists, for the user and for a project", () => {
  const host = { ...HOST, exists: (path: string) => path.endsWith("/kilo.jsonc") };
  assert.deepEqual(Object.keys(writtenFiles("kilo", {}, host)), [`${PATH}c`]);
  const [, project] = plansFor(findTool("kilo"), {}, host);
  assert.equal(project?.files[0]?.path, "/home/ada/project/kilo.jsonc");
});

test("Kilo is recognized by its own headers, although it sends opencode's User-Agent and originator", () => {
  const opencode = { "user-agent": "opencode/7.7.7", originator: "opencode" };
  assert.equal(toolOfRequest({ ...opencode, "x-title": "Kilo Code" }), "kilo by signature");
  assert.equal(toolOfRequest({ ...opencode, "http-referer": "https://kilocode.ai" }), "kilo by signature");
});

test("Kilo is recognized by its User-Agent, unless another tool's own header is present", () => {
  const kilo = { "user-agent": "kilo/latest/7.7.7/cli" };
  assert.equal(toolOfRequest(kilo), "kilo by signature");
  assert.equal(toolOfRequest({ ...kilo, originator: "codex_exec" }), "codex by signature");
});

test("/x/node_modules/@kilocode/cli-linux-x64/bin/kilo is a process of Kilo", () => {
  assert.equal(toolOfProcess("/x/node_modules/@kilocode/cli-linux-x64/bin/kilo"), "kilo");
});

test("Kilo's requests go elsewhere by a model of another provider, in its own files or in opencode's beside them", () => {
  const other = { model: "openrouter/x" };
  const reason = "(model): it chooses a model of openrouter";
  for (const path of [PATH, "~/.config/kilo/opencode.json", "./kilo.jsonc", "./.kilocode/kilo.json"]) {
    assert.deepEqual(conflictsOf("kilo", { [path]: other }), { [`${path} ${reason}`]: "needs a model" });
  }
});
