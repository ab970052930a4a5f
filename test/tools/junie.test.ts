import assert from "node:assert/strict";
import { test } from "node:test";
import { writtenObject } from "./tool-support.ts";

for (const [model, apiType, route] of [
  ["claude-sonnet-5", "Anthropic", "/v1/messages"],
  ["gpt-5.5", "OpenAIResponses", "/v1/responses"],
  ["qwen3-coder:30b", "OpenAICompletion", "/v1/chat/completions"],
] as const) {
  test(`Junie is connected for ${model} by a model profile with the whole URL of ${route}`, () => {
    assert.deepEqual(writtenObject("junie", "~/.junie/models/tollkeeper.json", { model }), {
      id: model,
      baseUrl: `http://127.0.0.1:8655/t/junie${route}`,
      apiType,
      apiKey: "tk-junie",
    });
  });
}
