import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictsOf, environmentOf, TOKEN, toolOfProcess, toolOfRequest } from "./tool-support.ts";

test("Copilot is pointed at Messages for Claude's models, without a credential", () => {
  assert.deepEqual(environmentOf("copilot")?.variables, {
    COPILOT_PROVIDER_BASE_URL: "http://127.0.0.1:8655/t/copilot",
    COPILOT_PROVIDER_TYPE: "anthropic",
    COPILOT_MODEL: "claude-sonnet-5",
  });
});

test("Copilot is pointed at Responses for other models, with the local token where one is required", () => {
  const changes = { model: "gpt-5.5", isToken: true, credential: TOKEN };
  assert.deepEqual(environmentOf("copilot", changes)?.variables, {
    COPILOT_PROVIDER_API_KEY: TOKEN,
    COPILOT_PROVIDER_BASE_URL: "http://127.0.0.1:8655/t/copilot/v1",
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_WIRE_API: "responses",
    COPILOT_MODEL: "gpt-5.5",
  });
});

test("Copilot is pointed at Chat Completions for models that only it serves", () => {
  assert.deepEqual(environmentOf("copilot", { model: "qwen3-coder:30b" })?.variables, {
    COPILOT_PROVIDER_BASE_URL: "http://127.0.0.1:8655/t/copilot/v1",
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_WIRE_API: "completions",
    COPILOT_MODEL: "qwen3-coder:30b",
  });
});

test("Copilot is recognized by x-initiator beside a library's User-Agent, also where Pi's session header is present", () => {
  const headers = { "user-agent": "OpenAI/JS 5.20.1", "x-initiator": "user" };
  assert.equal(toolOfRequest(headers), "copilot by signature");
  assert.equal(toolOfRequest({ ...headers, session_id: "s1" }), "copilot by signature");
});

test("/x/node_modules/@github/copilot-linux-x64/copilot is a process of Copilot", () => {
  assert.equal(toolOfProcess("/x/node_modules/@github/copilot-linux-x64/copilot"), "copilot");
});

test("Copilot's requests go elsewhere by another base URL in the shell's file, and a token there comes along", () => {
  const COPILOT_PROVIDER_BASE_URL = "http://127.0.0.1:8655/t/copilot";
  assert.deepEqual(conflictsOf("copilot", { "~/.bashrc": { COPILOT_PROVIDER_BASE_URL } }), {});
  const other = {
    COPILOT_PROVIDER_BASE_URL: "https://models.work.example",
    COPILOT_PROVIDER_BEARER_TOKEN: "another",
  };
  assert.deepEqual(conflictsOf("copilot", { "~/.bashrc": other }), {
    "~/.bashrc (COPILOT_PROVIDER_BASE_URL): it is another base URL": {},
    "~/.bashrc (COPILOT_PROVIDER_BEARER_TOKEN): it is sent in addition to tollkeeper's or instead of it": {},
  });
});
