import assert from "node:assert/strict";
import { test } from "node:test";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { post } from "../../helpers/gate/gate.ts";
import { sendJson } from "../../helpers/upstream/scripted-upstream.ts";

for (const [who, headers, expected] of [
  ["Anthropic", { "request-id": "r1", "x-request-id": "r2" }, "r1"],
  ["OpenAI and Groq", { "x-request-id": "r1" }, "r1"],
  ["Azure", { "apim-request-id": "r1" }, "r1"],
  ["OpenRouter", { "x-generation-id": "gen-1" }, "gen-1"],
  ["Mistral", { "mistral-correlation-id": "r1" }, "r1"],
  ["DeepSeek", { "x-ds-trace-id": "r1" }, "r1"],
  ["Cerebras and Hugging Face", { "inference-id": "r1" }, "r1"],
  ["a service without any", { "x-trace": "r1" }, null],
] as const) {
  test(`the record has the request id of ${who}`, async (t) => {
    const { gate } = await startGateWithUpstream(t, (_seen, res) => {
      for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
      sendJson(res, {});
    });
    await (await post(gate, "/v1/chat/completions", { model: "m" })).text();
    assert.equal((await gate.ledger.only()).upstream_request_id, expected);
  });
}
