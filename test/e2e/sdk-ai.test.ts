import assert from "node:assert/strict";
import { test } from "node:test";
import { createAnthropic, type AnthropicLanguageModelOptions } from "@ai-sdk/anthropic";
import { createOpenAI, type OpenAILanguageModelResponsesOptions } from "@ai-sdk/openai";
import { generateText, jsonSchema, streamText, tool, type LanguageModelUsage } from "ai";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import {
  assertRecordHas,
  assertLedgerMatchesBilling,
  ledgerTokens,
  startGateWithSandbox,
} from "../helpers/ledger/sandbox-billing.ts";

type Request = Parameters<typeof generateText>[0];
type Model = Request["model"];

/** What both functions return of a response. */
interface SdkResponse {
  usage: LanguageModelUsage;
  finishReason: string;
  rawFinishReason: string | undefined;
  response: { id: string; modelId: string };
  providerMetadata: Record<string, Record<string, unknown>> | undefined;
}

const MODES = {
  complete: async (request: Request): Promise<SdkResponse> => generateText(request),
  async streamed(request: Request): Promise<SdkResponse> {
    const result = streamText(request);
    await result.consumeStream();
    return {
      usage: await result.usage,
      finishReason: await result.finishReason,
      rawFinishReason: await result.rawFinishReason,
      response: await result.response,
      providerMetadata: await result.providerMetadata,
    };
  },
};

const PROVIDERS = {
  messages: (baseURL: string): Model =>
    createAnthropic({ baseURL, apiKey: "placeholder" })("claude-sonnet-5"),
  responses: (baseURL: string): Model => createOpenAI({ baseURL, apiKey: "placeholder" })("gpt-5"),
  "chat/completions": (baseURL: string): Model =>
    createOpenAI({ baseURL, apiKey: "placeholder" }).chat("gpt-5"),
};

const WEATHER = tool({
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
});

const THINKING = {
  anthropic: { thinking: { type: "adaptive" } } satisfies AnthropicLanguageModelOptions,
  openai: { reasoningEffort: "low" } satisfies OpenAILanguageModelResponsesOptions,
};

/** Long enough to be cached by either API. */
const SYSTEM = {
  role: "system" as const,
  content: "Be brief. ".repeat(1000),
  providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
};

type Case = [name: string, request: object, isShown: (response: SdkResponse) => boolean];

/** In this order, because a case reads from the cache what the previous one has written. */
const CASES: Case[] = [
  ["text", {}, ({ usage }) => (usage.outputTokens ?? 0) > 0],
  [
    "thinking",
    { providerOptions: THINKING },
    ({ usage }) => (usage.outputTokenDetails.reasoningTokens ?? 0) > 0,
  ],
  [
    "tool use",
    { tools: { get_weather: WEATHER }, prompt: "use the tool get_weather" },
    ({ finishReason }) => finishReason === "tool-calls",
  ],
  ["cache, first time", { system: SYSTEM }, ({ usage }) => usage.inputTokenDetails.cacheReadTokens === 0],
  ["cache read", { system: SYSTEM }, ({ usage }) => (usage.inputTokenDetails.cacheReadTokens ?? 0) > 0],
  ["a limit", { maxOutputTokens: 3 }, ({ usage }) => usage.outputTokens === 3],
];

/** The expected record of a response, from what the SDK returns. */
function expectRecord({ usage, rawFinishReason, response }: SdkResponse): Partial<UsageRecord> {
  const { inputTokenDetails: input, outputTokenDetails: output } = usage;
  const tokens = ledgerTokens({
    uncached: input.noCacheTokens ?? 0,
    read: input.cacheReadTokens ?? 0,
    write5m: input.cacheWriteTokens,
    output: usage.outputTokens ?? 0,
    reasoning: output.reasoningTokens ?? null,
  });
  assert.equal(tokens.input_total, usage.inputTokens);
  assert.equal(tokens.total, usage.totalTokens);
  return {
    usage: "final",
    status: 200,
    // The SDK omits the reason of a completed response, for which the ledger has null.
    stop: rawFinishReason ?? null,
    response_id: response.id,
    model: response.modelId,
    tokens,
    flags: [],
  };
}

/** As {@link expectRecord}: what the SDK does not keep, or not as a whole, of Chat Completions. */
function expectDetails({ usage, providerMetadata }: SdkResponse): Partial<UsageRecord> {
  const tier = usage.raw?.["service_tier"] ?? providerMetadata?.["openai"]?.["serviceTier"];
  return { service_tier: String(tier), raw_usage: usage.raw ?? null };
}

for (const [api, modelAt] of Object.entries(PROVIDERS)) {
  for (const [mode, ask] of Object.entries(MODES)) {
    test(`each record of the AI SDK on /${api} (${mode}) equals the usage that the SDK reports`, async (t) => {
      const { gate, sandbox } = await startGateWithSandbox(t);
      const model = modelAt(`${gate.url}/v1`);
      for (const [name, request, isShown] of CASES) {
        const response = await ask({ model, prompt: "hello", maxOutputTokens: 300, ...request });
        assert.ok(isShown(response), name);
        const details = api === "chat/completions" ? {} : expectDetails(response);
        const known = { ...expectRecord(response), ...details };
        const expected = { ...known, tool: "ai-sdk", stream: mode === "streamed" };
        assertRecordHas(gate.ledger.records.at(-1), expected, name);
      }
      assert.equal(gate.ledger.records.length, CASES.length);
      assertLedgerMatchesBilling(gate.ledger.records, sandbox);
    });
  }
}
