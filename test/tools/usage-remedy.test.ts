import assert from "node:assert/strict";
import { test } from "node:test";
import { TOOLS } from "../../src/tools/all.ts";
import { usageRemedy } from "../../src/tools/usage-remedy.ts";

for (const [tool, userAgent, remedy] of [
  ["aider", "OpenAI/Python 2.1.0", /^set stream_options in .* with: tollkeeper connect aider --model MODEL$/],
  ["opencode", "opencode/1.18.33 ai-sdk/x", /^update the model server/],
  ["openai-sdk", "OpenAI/JS 7.55.0", /pass stream_options: \{ include_usage: true \}$/],
  ["nightly", "AsyncOpenAI/Python 2.1.0", /stream_options=\{"include_usage": True\}, .* stream_usage=True$/],
  ["sdk", "ai/7.0.173 ai-sdk/openai-compatible/3.0.92", /includeUsage: true to createOpenAICompatible$/],
  ["langchain", "langchainjs-openai/1.6.0", /streamUsage: true to ChatOpenAI$/],
  ["unknown", "Agents/Python 0.9.0", /ModelSettings\(include_usage=True\)$/],
  ["curl", "curl/7.88.1", /^make it send "stream_options": \{ "include_usage": true \}$/],
  ["unknown", null, /^make it send "stream_options"/],
] as const) {
  test(`usage of ${tool} becomes known by its own remedy, that of its library ${userAgent}, or a general one`, () =>
    assert.match(usageRemedy(tool, userAgent), remedy));
}

test("each remedy is a sentence in the imperative, without its end", () => {
  for (const { name, usageRemedy: remedy } of TOOLS)
    if (remedy !== undefined) assert.match(remedy, /^[a-z].*[^.]$/, name);
});
