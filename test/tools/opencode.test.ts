import assert from "node:assert/strict";
import { test } from "node:test";
import {
  environmentOf,
  findTool,
  firstFile,
  HOST,
  plansFor,
  toolOfProcess,
  toolOfRequest,
  writtenFiles,
  writtenObject,
} from "./tool-support.ts";

const PATH = "~/.config/opencode/opencode.json";

const options = { baseURL: "http://127.0.0.1:8655/t/opencode/v1", apiKey: "tk-opencode" };
const CONTENT = { provider: { anthropic: { options }, openai: { options } } };
const WITH_MODEL = { ...CONTENT, model: "openai/gpt-5.5" };

test("opencode is connected by the options of both of its built-in providers", () => {
  assert.deepEqual(writtenObject("opencode", PATH, { model: null }), CONTENT);
  assert.deepEqual(writtenObject("opencode", PATH, { model: "gpt-5.5" }), WITH_MODEL);
});

test("opencode is run with the same settings in a variable", () => {
  const environment = environmentOf("opencode", { model: "gpt-5.5" });
  assert.deepEqual(JSON.parse(environment?.variables["OPENCODE_CONFIG_CONTENT"] ?? ""), WITH_MODEL);
});

test("opencode's settings go into the .jsonc file where one exists, for the user and for a project", () => {
  const host = { ...HOST, exists: (path: string) => path.endsWith("/opencode.jsonc") };
  assert.deepEqual(Object.keys(writtenFiles("opencode", {}, host)), [`${PATH}c`]);
  const [, project] = plansFor(findTool("opencode"), {}, host);
  assert.equal(project?.files[0]?.path, "/home/ada/project/opencode.jsonc");
});

test("opencode's settings are below XDG_CONFIG_HOME", () => {
  assert.equal(firstFile("opencode", { XDG_CONFIG_HOME: "/etc/c" }), "/etc/c/opencode/opencode.json");
});

test("opencode is recognized by its User-Agent", () => {
  assert.equal(toolOfRequest({ "user-agent": "opencode/1.18.33 ai-sdk/x" }), "opencode by signature");
});

test("/x/node_modules/opencode-ai/bin/opencode.exe is a process of opencode", () => {
  assert.equal(toolOfProcess("/x/node_modules/opencode-ai/bin/opencode.exe"), "opencode");
});
