import * as fc from "fast-check";

/** Numbers that a provider may send, and other values in their place. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.nat(5) },
  { weight: 3, arbitrary: fc.nat(1_000_000) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(Number.MAX_SAFE_INTEGER, 2 ** 53, 2 ** 52, 1e18, 1e308, -1, -0, 0.5, 1e-7),
  },
  { weight: 1, arbitrary: fc.constantFrom(null, "", "7", true, [], {}, [1]) },
);

/** An object with some of the members, or sometimes something else. */
function some(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 5, arbitrary: fc.record(members, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 1, "x", []) },
  );
}

function numbers(...names: string[]): fc.Arbitrary<unknown> {
  return some(Object.fromEntries(names.map((name) => [name, value])));
}

const details = numbers("cached_tokens", "cache_write_tokens", "reasoning_tokens", "thinking_tokens");
const split = numbers("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens");

const API_NAMES = {
  input_tokens: value,
  output_tokens: value,
  cache_read_input_tokens: value,
  cache_creation_input_tokens: value,
  cache_creation: split,
  output_tokens_details: details,
};

const iteration = some({
  ...API_NAMES,
  type: fc.constantFrom("message", "compaction", "advisor_message", "fallback_message", "new", 5),
  model: fc.constantFrom("m", "n", null),
});

/** A usage object with names of any provider, and sensible and senseless values. */
export const anyUsage: fc.Arbitrary<unknown> = some({
  ...API_NAMES,
  input_tokens_details: some({
    cached_tokens: value,
    cache_write_tokens: value,
    cache_write_tokens_details: numbers("ttl_30m_tokens", "ttl_12h_tokens"),
  }),
  total_tokens: value,
  prompt_tokens: value,
  completion_tokens: value,
  prompt_tokens_details: details,
  completion_tokens_details: details,
  prompt_cache_hit_tokens: value,
  prompt_cache_miss_tokens: value,
  cached_tokens: value,
  claude_cache_creation_5_m_tokens: value,
  claude_cache_creation_1_h_tokens: value,
  usage_semantic: fc.constantFrom("anthropic", "openai"),
  iterations: fc.array(iteration, { maxLength: 4 }),
  server_tool_use: numbers("web_search_requests", "__proto__", "constructor"),
  service_tier: fc.constantFrom("standard", "", 5),
});

const metrics = numbers(
  "inputTokenCount",
  "outputTokenCount",
  "cacheReadInputTokenCount",
  "cacheWriteInputTokenCount",
);

/** Messages events in any order, with any usage. */
export const anyMessagesEvent: fc.Arbitrary<object> = fc.oneof(
  fc.record({
    type: fc.constant("message_start"),
    message: fc.record({ id: fc.constantFrom("a", "b"), model: fc.constantFrom("m", "n"), usage: anyUsage }),
  }),
  fc.record({
    type: fc.constant("message_delta"),
    delta: fc.record({ stop_reason: fc.constantFrom(null, "end_turn", "refusal", "compaction") }),
    usage: anyUsage,
  }),
  fc.record({ type: fc.constant("message_stop"), "amazon-bedrock-invocationMetrics": metrics }),
  fc.constant({ type: "error", error: { type: "overloaded_error" } }),
);

const anyResponse = fc.record({
  id: fc.constantFrom("a", "b", null),
  status: fc.constantFrom("completed", "failed", "queued", "in_progress", "cancelled", "odd", null),
  background: fc.constantFrom(true, false, null),
  usage: anyUsage,
  tool_usage: some({
    image_gen: numbers("input_tokens", "output_tokens"),
    web_search: numbers("num_requests"),
  }),
});

/** Responses events in any order, with any usage. */
export const anyResponsesEvent: fc.Arbitrary<object> = fc.oneof(
  fc.record({
    type: fc
      .constantFrom("created", "in_progress", "completed", "incomplete", "failed", "cancelled")
      .map((end) => `response.${end}`),
    response: anyResponse,
  }),
  fc.constant({ type: "error", code: "c" }),
);

/** The body of a response that is not a stream, in the shape of either API. */
export const anyDocument: fc.Arbitrary<object> = fc
  .tuple(anyResponse, fc.constantFrom("end_turn", "max_tokens", null))
  .map(([response, stop]) => ({ ...response, stop_reason: stop }));

const choice = some({
  index: fc.constantFrom(0, 0, 1, null),
  finish_reason: fc.constantFrom(null, null, "stop", "length", "error", ""),
  delta: some({ content: fc.constantFrom("", "a", '"usage":{}', null) }),
  usage: anyUsage,
});

/** Chunks of a chat completion in any order, with any usage in any place. Long ones are not skipped. */
export const anyChunk: fc.Arbitrary<object> = fc.record(
  {
    id: fc.constantFrom("a", "b", ""),
    model: fc.constantFrom("m", "n", ""),
    choices: fc.array(choice, { maxLength: 3 }),
    usage: fc.oneof(fc.constant(null), anyUsage),
    x_groq: some({ usage: anyUsage }),
    timings: numbers("cache_n", "prompt_n", "predicted_n"),
    error: fc.constantFrom(null, "", "e", { code: 5 }),
    object: fc.constantFrom("chat.completion.chunk", "error"),
    obfuscation: fc.constantFrom("x", "y".repeat(1_000)),
  },
  { requiredKeys: [] },
);

const modalities = fc.oneof(
  fc.array(
    some({ modality: fc.constantFrom("TEXT", "AUDIO", 1, "__proto__", "a sentence"), tokenCount: value }),
    {
      maxLength: 3,
    },
  ),
  value,
);

const geminiUsage = some({
  promptTokenCount: value,
  cachedContentTokenCount: value,
  candidatesTokenCount: value,
  thoughtsTokenCount: value,
  toolUsePromptTokenCount: value,
  totalTokenCount: value,
  promptTokensDetails: modalities,
  cacheTokensDetails: modalities,
  trafficType: fc.constantFrom("ON_DEMAND", "ON_DEMAND_FLEX", "", 1),
});

const geminiResponse = {
  candidates: fc.array(
    some({
      index: fc.constantFrom(0, 0, 1, null),
      finishReason: fc.constantFrom("STOP", "MAX_TOKENS", "", 2, null, "a sentence"),
      content: some({
        parts: fc.array(some({ text: fc.constantFrom("", "a", '"usageMetadata":{}', null) })),
      }),
      groundingMetadata: some({ webSearchQueries: fc.array(fc.constantFrom("", "a", "b", 5)) }),
    }),
    { maxLength: 3 },
  ),
  usageMetadata: geminiUsage,
  modelVersion: fc.constantFrom("m", "models/m", ""),
  responseId: fc.constantFrom("a", "b", ""),
  promptFeedback: some({ blockReason: fc.constantFrom("SAFETY", 1, "") }),
  error: fc.constantFrom(null, "e", { code: 503, status: "UNAVAILABLE" }),
};

/** Chunks of Google's API in any order and in each of its wrappers, with any usage. */
export const anyGeminiChunk: fc.Arbitrary<object> = fc.record(
  {
    ...geminiResponse,
    response: some(geminiResponse),
    interaction: some({
      id: fc.constantFrom("v1_a", "v1_b"),
      status: fc.constantFrom("in_progress", "completed", "failed", "odd", null),
      usage: some({
        total_input_tokens: value,
        total_cached_tokens: value,
        total_output_tokens: value,
        total_thought_tokens: value,
        total_tokens: value,
      }),
    }),
    predictions: fc.array(some({ embeddings: some({ statistics: numbers("token_count") }) }), {
      maxLength: 2,
    }),
  },
  { requiredKeys: [] },
);
