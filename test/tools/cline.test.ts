import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictsOf, firstFile, toolOfProcess, toolOfRequest, writtenObject } from "./tool-support.ts";

for (const [model, provider] of [
  ["claude-sonnet-5", "anthropic"],
  ["gpt-5.5", "openai-native"],
  ["qwen3-coder:30b", "openai-compatible"],
] as const) {
  test(`Cline is connected for ${model} by a complete entry of the provider ${provider}`, () => {
    const settings = { provider, apiKey: "tk-cline", baseUrl: "http://127.0.0.1:8655/t/cline/v1", model };
    const entry = { settings, updatedAt: "2026-11-22T00:00:00.000Z", tokenSource: "manual" };
    const expected = { version: 1, lastUsedProvider: provider, providers: { [provider]: entry } };
    assert.deepEqual(writtenObject("cline", "~/.cline/data/settings/providers.json", { model }), expected);
  });
}

test("Cline's settings are in CLINE_DATA_DIR", () => {
  assert.equal(firstFile("cline", { CLINE_DATA_DIR: "/etc/c" }), "/etc/c/settings/providers.json");
});

test("Cline is recognized by the AI SDK's User-Agent on Bun", () => {
  const userAgent = "ai-sdk/anthropic/4.0.42 ai-sdk/provider-utils/5.0.30 runtime/bun/1.3.13";
  assert.equal(toolOfRequest({ "user-agent": userAgent }), "cline by signature");
});

test("/x/node_modules/@cline/cli-linux-x64/bin/cline is a process of Cline", () => {
  assert.equal(toolOfProcess("/x/node_modules/@cline/cli-linux-x64/bin/cline"), "cline");
});

test("Cline's requests go elsewhere once another provider was chosen in it", () => {
  const path = "~/.cline/data/settings/providers.json";
  const providers = {
    anthropic: { settings: { baseUrl: "http://127.0.0.1:8655/t/cline/v1" } },
    openrouter: { settings: { provider: "openrouter" } },
  };
  assert.deepEqual(conflictsOf("cline", { [path]: { lastUsedProvider: "anthropic", providers } }), {});
  assert.deepEqual(conflictsOf("cline", { [path]: { lastUsedProvider: "openrouter", providers } }), {
    [`${path} (lastUsedProvider): Cline uses the provider openrouter`]: {},
  });
});
