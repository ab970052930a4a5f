import type { MeterReading } from "../../../../src/core/usage/reading.ts";
import { stream } from "../response-bodies.ts";

/** A body that a public document shows, with texts of our own, and what its record must have. */
interface FoundBody {
  /** Where the counts, the members and their order are from. */
  source: string;
  contentType: "text/event-stream" | "application/json";
  body: string;
  /** `input_uncached`, `cache_read`, `output`, `reasoning`, `total`. */
  counts: [uncached: number, read: number, output: number, reasoning: number | null, total: number];
  reading: Partial<MeterReading>;
}

const text = (tokenCount: number, modality: string | number = "TEXT") => [{ modality, tokenCount }];

const candidate = (words: string, finishReason?: string | number, more: object = {}) => [
  { content: { role: "model", parts: [{ text: words }] }, finishReason, ...more },
];

/** A list as Google's servers write it: each element after a comma on a line of its own, cut nowhere in particular. */
function list(elements: object[]): string {
  return `[${elements.map((element) => JSON.stringify(element, null, 2)).join("\r\n,\r\n")}\r\n]\r\n`;
}

const vertex = (modelVersion: string, responseId: string) => ({
  modelVersion,
  createTime: "2026-01-01T00:00:00.000000Z",
  responseId,
});

/** Recordings of the AI SDK's tests, newer than the corpus. */
const AI_SDK = "vercel/ai, packages/google/src/__fixtures__";

/** The usage of Google's own host since 2026: a tier, and details of the prompt alone. */
const withTier = (promptTokenCount: number, more: object) => ({
  usageMetadata: {
    promptTokenCount,
    promptTokensDetails: text(promptTokenCount),
    ...more,
    serviceTier: "standard",
  },
});

export const FOUND_BODIES: readonly FoundBody[] = [
  {
    source: "elastic/elasticsearch, GoogleVertexAiChatCompletionResponseEntity.java: a list from Vertex",
    contentType: "application/json",
    body: list([
      {
        candidates: candidate("One"),
        usageMetadata: { trafficType: "ON_DEMAND" },
        ...vertex("gemini-2.0-flash-001", "iAQ"),
      },
      {
        candidates: candidate(" two\n", "STOP"),
        usageMetadata: {
          promptTokenCount: 2,
          candidatesTokenCount: 11,
          totalTokenCount: 13,
          trafficType: "ON_DEMAND",
          promptTokensDetails: text(2),
          candidatesTokensDetails: text(11),
        },
        ...vertex("gemini-2.0-flash-001", "iAQ"),
      },
    ]),
    counts: [2, 0, 11, null, 13],
    reading: {
      outcome: "completed",
      stop: "STOP",
      model: "gemini-2.0-flash-001",
      service_tier: "standard",
      flags: [],
    },
  },
  {
    source:
      "neuraxes/neurouter, google upstream test: a list with numbers for words, whose prompt falls from 2 to 1",
    contentType: "application/json",
    body: list([
      ...["One", " two"].map((words) => ({
        candidates: candidate(words),
        usageMetadata: { promptTokenCount: 2, totalTokenCount: 2, promptTokensDetails: text(2, 1) },
        modelVersion: "gemini-2.0-flash",
        responseId: "bIr",
      })),
      {
        candidates: candidate(" three\n", 1),
        usageMetadata: {
          promptTokenCount: 1,
          candidatesTokenCount: 11,
          totalTokenCount: 12,
          promptTokensDetails: text(1, 1),
          candidatesTokensDetails: text(11, 1),
        },
        modelVersion: "gemini-2.0-flash",
        responseId: "bIr",
      },
    ]),
    counts: [1, 0, 11, null, 12],
    reading: { outcome: "completed", stop: "STOP", model: "gemini-2.0-flash", response_id: "bIr", flags: [] },
  },
  {
    source: "envoyproxy/ai-gateway, tests of the data plane: a tool call from Vertex, which ends with STOP",
    contentType: "application/json",
    body: JSON.stringify({
      candidates: [
        {
          content: { role: "model", parts: [{ functionCall: { name: "get_date", args: { id: "1" } } }] },
          finishReason: "STOP",
          avgLogprobs: 0.000001220789272338152,
        },
      ],
      usageMetadata: {
        promptTokenCount: 50,
        candidatesTokenCount: 11,
        totalTokenCount: 61,
        trafficType: "ON_DEMAND",
        promptTokensDetails: text(50),
        candidatesTokensDetails: text(11),
      },
      ...vertex("gemini-2.0-flash-001", "EI5"),
    }),
    counts: [50, 0, 11, null, 61],
    reading: { outcome: "completed", stop: "STOP", flags: [] },
  },
  {
    source:
      "Cloudflare's documentation of google/gemini-3-flash: members of the gateway's own beside Vertex's",
    contentType: "application/json",
    body: JSON.stringify({
      candidates: candidate("One", "STOP"),
      usageMetadata: {
        promptTokenCount: 8,
        candidatesTokenCount: 677,
        totalTokenCount: 1132,
        trafficType: "ON_DEMAND",
        promptTokensDetails: text(8),
        candidatesTokensDetails: text(677),
        thoughtsTokenCount: 447,
      },
      ...vertex("gemini-3-flash-preview", "bpt"),
      gatewayMetadata: { keySource: "Unified" },
    }),
    counts: [8, 0, 1124, 447, 1132],
    reading: { outcome: "completed", model: "gemini-3-flash-preview", service_tier: "standard", flags: [] },
  },
  {
    source:
      "BerriAI/litellm#10667: implicit caching, 18,403 of 19,588 (thoughts by difference, the name is ours)",
    contentType: "application/json",
    body: JSON.stringify(
      {
        candidates: candidate("One", "STOP", { index: 0 }),
        usageMetadata: {
          promptTokenCount: 19588,
          candidatesTokenCount: 69,
          totalTokenCount: 19801,
          cachedContentTokenCount: 18403,
          promptTokensDetails: text(19588),
          cacheTokensDetails: text(18403),
          thoughtsTokenCount: 144,
        },
        modelVersion: "models/gemini-2.5-flash-preview-04-17",
      },
      null,
      2,
    ),
    counts: [1185, 18403, 213, 144, 19801],
    reading: { outcome: "completed", model: "gemini-2.5-flash-preview-04-17", flags: [] },
  },
  {
    source:
      "google/adk-go, agent/remoteagent/testdata, 2026-02-09: four chunks, thoughts in full from the first on",
    contentType: "text/event-stream",
    body: stream(
      [
        [44, 621],
        [93, 670],
        [142, 719],
        [180, 757],
      ].map(([candidatesTokenCount, totalTokenCount], i) => ({
        candidates: candidate("One", i === 3 ? "STOP" : undefined, { index: 0 }),
        usageMetadata: {
          promptTokenCount: 14,
          candidatesTokenCount,
          totalTokenCount,
          promptTokensDetails: text(14),
          thoughtsTokenCount: 563,
        },
        modelVersion: "gemini-2.5-flash",
        responseId: "dqe",
      })),
    ).replaceAll("\n", "\r\n"),
    counts: [14, 0, 743, 563, 757],
    reading: { outcome: "completed", stop: "STOP", response_id: "dqe", flags: [] },
  },
  {
    source: "GeneralBots, out.txt, 2026-03-10: a stream from Vertex with an empty text in its last chunk",
    contentType: "text/event-stream",
    body: stream([
      ...["One", " two", "?"].map((words) => ({
        candidates: candidate(words),
        usageMetadata: { trafficType: "ON_DEMAND" },
        ...vertex("gemini-3.1-flash-lite-preview", "tTC"),
      })),
      {
        candidates: [
          {
            content: { role: "model", parts: [{ text: "", thoughtSignature: "AY8=" }] },
            finishReason: "STOP",
          },
        ],
        usageMetadata: {
          promptTokenCount: 1,
          candidatesTokenCount: 9,
          totalTokenCount: 10,
          trafficType: "ON_DEMAND",
          promptTokensDetails: text(1),
          candidatesTokensDetails: text(9),
        },
        ...vertex("gemini-3.1-flash-lite-preview", "tTC"),
      },
    ]),
    counts: [1, 0, 9, null, 10],
    reading: {
      outcome: "completed",
      model: "gemini-3.1-flash-lite-preview",
      service_tier: "standard",
      flags: [],
    },
  },
  {
    source:
      "an event of Google's Agent Development Kit, e-29b298a8-3f98-4345-b121-e591c59e01d2: Vertex with Google Search, whose total leaves out what the search fed back",
    contentType: "application/json",
    body: JSON.stringify({
      candidates: candidate("One", "STOP", {
        groundingMetadata: {
          webSearchQueries: ["a", "b", "c", "d", "e"],
          searchEntryPoint: { renderedContent: "x" },
        },
      }),
      usageMetadata: {
        candidatesTokenCount: 1119,
        candidatesTokensDetails: text(1119),
        promptTokenCount: 580,
        promptTokensDetails: text(580),
        thoughtsTokenCount: 107,
        toolUsePromptTokenCount: 103,
        totalTokenCount: 1806,
        trafficType: "ON_DEMAND",
      },
    }),
    counts: [580, 0, 1226, 107, 1806],
    reading: { outcome: "completed", server_tools: { web_search: 5 }, flags: ["tool_use_inside_prompt"] },
  },
  {
    source:
      "singankit/semantic_convention_proposal, gemini-built-in-tools.md: search and code execution, 2026-01-06",
    contentType: "application/json",
    body: JSON.stringify({
      candidates: candidate("One", "STOP", { index: 0, groundingMetadata: { webSearchQueries: ["a"] } }),
      usageMetadata: {
        promptTokenCount: 22,
        candidatesTokenCount: 212,
        totalTokenCount: 651,
        cachedContentTokenCount: 16,
        promptTokensDetails: text(22),
        cacheTokensDetails: text(16),
        toolUsePromptTokenCount: 303,
        toolUsePromptTokensDetails: text(303),
        thoughtsTokenCount: 114,
      },
      modelVersion: "gemini-2.5-flash",
      responseId: "rml",
    }),
    counts: [309, 16, 326, 114, 651],
    reading: { outcome: "completed", server_tools: { web_search: 1 }, flags: [] },
  },
  {
    source:
      "docker/docker-agent#2848: Gemini 3 ends a stream with a chunk that has usage and no content (counts are ours)",
    contentType: "text/event-stream",
    body: stream([
      { candidates: candidate("One"), usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 } },
      { candidates: candidate(" two", "STOP"), modelVersion: "gemini-3-flash-preview" },
      {
        usageMetadata: {
          promptTokenCount: 7,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 20,
          totalTokenCount: 31,
        },
        modelVersion: "gemini-3-flash-preview",
      },
    ]),
    counts: [7, 0, 24, 20, 31],
    reading: { outcome: "completed", stop: "STOP", model: "gemini-3-flash-preview", flags: [] },
  },
  {
    source:
      "google-gemini/gemini-cli, integration-tests/context-compress-interactive: a prompt and nothing else",
    contentType: "text/event-stream",
    body: stream([{ candidates: candidate("One", "STOP"), usageMetadata: { promptTokenCount: 100000 } }]),
    counts: [100000, 0, 0, null, 100000],
    reading: { outcome: "completed", flags: [] },
  },
  {
    source: "a recorded answer of an aggregator that puts its own prefix before the name, 2026-01-29",
    contentType: "application/json",
    body: JSON.stringify({
      candidates: candidate("One", "STOP", { avgLogprobs: -0.41 }),
      usageMetadata: {
        promptTokenCount: 5,
        candidatesTokenCount: 1353,
        totalTokenCount: 2794,
        trafficType: "ON_DEMAND",
        promptTokensDetails: text(5),
        candidatesTokensDetails: text(1353),
        thoughtsTokenCount: 1436,
      },
      ...vertex("google/gemini-2.5-pro", "Bh1"),
    }),
    counts: [5, 0, 2789, 1436, 2794],
    reading: { outcome: "completed", model: "google/gemini-2.5-pro", flags: [] },
  },
  {
    source: `${AI_SDK}/gemma-4-output-usage.chunks.txt: Gemma 4 on Google's host, whose thoughts come first and grow`,
    contentType: "text/event-stream",
    body: stream(
      [[14], [38], [62], [76], [76, 1], [76, 1, "STOP"] as const].map(([thoughts = 0, output, stop]) => ({
        candidates: candidate(stop === undefined ? "One" : "", stop, { index: 0 }),
        ...withTier(6, {
          candidatesTokenCount: output,
          totalTokenCount: 6 + thoughts + (output ?? 0),
          thoughtsTokenCount: thoughts,
        }),
        modelVersion: "gemma-4-26b-a4b-it",
        responseId: "4HF",
      })),
    ),
    counts: [6, 0, 77, 76, 83],
    reading: { outcome: "completed", stop: "STOP", model: "gemma-4-26b-a4b-it", flags: [] },
  },
  {
    source: `${AI_SDK}/google-gemini-3.7-flash-thinking-levels.json: a low level of thinking, without thoughts`,
    contentType: "application/json",
    body: JSON.stringify({
      candidates: candidate("One", "STOP", { index: 0 }),
      ...withTier(2, { candidatesTokenCount: 9, totalTokenCount: 11 }),
      modelVersion: "gemini-3.7-flash",
      responseId: "kNi",
    }),
    counts: [2, 0, 9, null, 11],
    reading: { outcome: "completed", model: "gemini-3.7-flash", service_tier: "standard", flags: [] },
  },
  {
    source: `${AI_SDK}/google-stream-gemini-3.7-flash-2026-09-16.chunks.txt: the same counts in both chunks`,
    contentType: "text/event-stream",
    body: stream(
      [undefined, "STOP"].map((stop) => ({
        candidates: candidate(stop === undefined ? "One" : "", stop, { index: 0 }),
        ...withTier(7, { candidatesTokenCount: 2, totalTokenCount: 103, thoughtsTokenCount: 94 }),
        modelVersion: "gemini-3.7-flash",
        responseId: "WQu",
      })),
    ),
    counts: [7, 0, 96, 94, 103],
    reading: { outcome: "completed", stop: "STOP", response_id: "WQu", flags: [] },
  },
  {
    source: `${AI_SDK}/google-tool-use-usage.json: tokens of a tool beside the prompt, and thoughts`,
    contentType: "application/json",
    body: JSON.stringify({
      candidates: candidate("", "STOP", { index: 0 }),
      ...withTier(55, {
        candidatesTokenCount: 51,
        totalTokenCount: 251,
        toolUsePromptTokenCount: 89,
        toolUsePromptTokensDetails: text(89),
        thoughtsTokenCount: 56,
      }),
      modelVersion: "gemini-3.6-flash",
      responseId: "Cla",
    }),
    counts: [144, 0, 107, 56, 251],
    reading: { outcome: "completed", model: "gemini-3.6-flash", flags: [] },
  },
  {
    source: `${AI_SDK}/issue-19822-complete-usage.json: every count at once, with members that no document has`,
    contentType: "application/json",
    body: JSON.stringify({
      candidates: candidate("One", "STOP", { index: 0 }),
      usageMetadata: {
        promptTokenCount: 19,
        cachedContentTokenCount: 3,
        candidatesTokenCount: 4,
        toolUsePromptTokenCount: 63,
        thoughtsTokenCount: 56,
        totalTokenCount: 142,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 19, futureDetailField: "prompt" }],
        cacheTokensDetails: [{ modality: "TEXT", tokenCount: 3, futureDetailField: "cache" }],
        candidatesTokensDetails: [{ modality: "TEXT", tokenCount: 4, futureDetailField: "candidate" }],
        toolUsePromptTokensDetails: [{ modality: "TEXT", tokenCount: 63, futureDetailField: "tool" }],
        serviceTier: "standard",
        futureUsageField: "kept",
      },
      modelVersion: "gemini-2.5-flash",
      responseId: "i19",
    }),
    counts: [79, 3, 60, 56, 142],
    reading: { outcome: "completed", model: "gemini-2.5-flash", service_tier: "standard", flags: [] },
  },
  {
    source: `${AI_SDK}/google-usage-raw-live.chunks.txt: an event with usage and nothing else`,
    contentType: "text/event-stream",
    body: stream([
      withTier(12, {
        candidatesTokenCount: 71,
        totalTokenCount: 237,
        cachedContentTokenCount: 4,
        cacheTokensDetails: text(4),
        toolUsePromptTokenCount: 65,
        toolUsePromptTokensDetails: text(65),
        thoughtsTokenCount: 89,
      }),
    ]),
    counts: [73, 4, 160, 89, 237],
    reading: { stop: null, service_tier: "standard", flags: [] },
  },
  {
    source: `${AI_SDK}/google-image-no-image-live.json: a request for a picture that made none`,
    contentType: "application/json",
    body: JSON.stringify({
      candidates: [{ content: {}, finishReason: "NO_IMAGE", index: 0 }],
      ...withTier(9, { totalTokenCount: 9 }),
      modelVersion: "gemini-3.1-flash-image-preview",
      responseId: "yzO",
    }),
    counts: [9, 0, 0, null, 9],
    reading: { outcome: "incomplete", stop: "NO_IMAGE", server_tools: {}, flags: [] },
  },
  {
    source: `${AI_SDK}/issue-19758-prompt-block.json: a prompt that was blocked`,
    contentType: "application/json",
    body: JSON.stringify({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      ...withTier(9, { totalTokenCount: 9 }),
      modelVersion: "gemini-3.7-flash",
      responseId: "EXC",
    }),
    counts: [9, 0, 0, null, 9],
    reading: { outcome: "incomplete", stop: "PROHIBITED_CONTENT", model: "gemini-3.7-flash", flags: [] },
  },
  {
    source: `${AI_SDK}/google-embedding-2-multimodal-batch.json: embeddings, with the details under another name`,
    contentType: "application/json",
    body: JSON.stringify({
      embeddings: [{ values: [0.5, 0.75] }, { values: [-0.5, -0.75] }],
      usageMetadata: { promptTokenCount: 12, promptTokenDetails: text(12) },
    }),
    counts: [12, 0, 0, null, 12],
    reading: { outcome: "completed", model: null, flags: [] },
  },
  {
    source: `${AI_SDK}/issue-19822-google-search-live.chunks.txt: a search, with output that grows in an empty chunk`,
    contentType: "text/event-stream",
    body: stream(
      [[20, 678] as const, [37, 695, "STOP"] as const].map(
        ([candidatesTokenCount, totalTokenCount, stop]) => ({
          candidates: candidate(stop === undefined ? "One" : "", stop, { index: 0 }),
          ...withTier(17, {
            candidatesTokenCount,
            totalTokenCount,
            toolUsePromptTokenCount: 308,
            toolUsePromptTokensDetails: text(308),
            thoughtsTokenCount: 333,
          }),
          modelVersion: "gemini-2.5-flash",
          responseId: "i19",
        }),
      ),
    ),
    counts: [325, 0, 370, 333, 695],
    reading: { outcome: "completed", stop: "STOP", flags: [] },
  },
  {
    source: `${AI_SDK}/google-stream-tool-call-arguments.chunks.txt: arguments in parts from Vertex, counts at the end alone`,
    contentType: "text/event-stream",
    body: stream([
      ...[
        { name: "get_date", willContinue: true },
        { partialArgs: [{ jsonPath: "$.id", stringValue: "1", willContinue: true }], willContinue: true },
      ].map((functionCall) => ({
        candidates: [{ content: { role: "model", parts: [{ functionCall }] } }],
        usageMetadata: { trafficType: "ON_DEMAND" },
        ...vertex("gemini-3.1-pro-preview", "dqH"),
      })),
      {
        candidates: [{ content: { role: "model", parts: [{ functionCall: {} }] }, finishReason: "STOP" }],
        usageMetadata: {
          promptTokenCount: 26,
          candidatesTokenCount: 23,
          totalTokenCount: 181,
          trafficType: "ON_DEMAND",
          promptTokensDetails: text(26),
          candidatesTokensDetails: text(23),
          thoughtsTokenCount: 132,
        },
        ...vertex("gemini-3.1-pro-preview", "dqH"),
      },
    ]),
    counts: [26, 0, 155, 132, 181],
    reading: { outcome: "completed", stop: "STOP", model: "gemini-3.1-pro-preview", flags: [] },
  },
  {
    source: `${AI_SDK}/google-image-gemini-3.1-flash-image.json: a picture of 1,120 tokens in an output of 1,392`,
    contentType: "application/json",
    body: JSON.stringify({
      candidates: [
        {
          content: { role: "model", parts: [{ inlineData: { mimeType: "image/jpeg", data: "/9j/4AAQ" } }] },
          finishReason: "STOP",
          index: 0,
        },
      ],
      ...withTier(10, {
        candidatesTokenCount: 1392,
        totalTokenCount: 1402,
        candidatesTokensDetails: text(1120, "IMAGE"),
      }),
      modelVersion: "gemini-3.1-flash-image",
      responseId: "dTO",
    }),
    counts: [10, 0, 1392, null, 1402],
    reading: { outcome: "completed", model: "gemini-3.1-flash-image", flags: ["details_short"] },
  },
];
