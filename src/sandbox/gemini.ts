import { readGooglePath } from "../core/http/gemini/google-path.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import type { ApiRequest, ApiResponse, RouteState } from "./api.ts";
import { readContentRequest } from "./gemini/request.ts";
import {
  composeCompletion,
  countReasoningTokens,
  sealReasoning,
  type Completion,
} from "./generation/completion.ts";
import { countCachedTokens } from "./generation/prompt-cache.ts";
import { countTokens, splitIntoChunks, sumTokens } from "./generation/tokens.ts";
import { makeId } from "./ids.ts";
import { pickObjects } from "./json.ts";
import { GEMINI_MODELS } from "./model-lists.ts";
import { requireModel } from "./models.ts";
import type { BilledTokens } from "./tally.ts";

/** How many numbers an embedding has. */
const DIMENSIONS = 8;

/** `:generateContent` and `:streamGenerateContent`: one response, a list of them, or with `alt=sse` a stream. */
export function generateContent(call: ApiRequest, { promptCache }: RouteState): ApiResponse {
  const { body, key, switches, path, query } = call;
  const model = modelIn(call);
  const { completion, billed } = complete(body, [key.secret, model], call, promptCache);
  const chunks = composeChunks(call, model, completion, billed);
  if (!path.includes("stream")) return { body: joinChunks(chunks), billed };
  const isEvents = (query.get("alt") ?? query.get("$alt")) === "sse";
  if (!isEvents) {
    const list = chunks.map((chunk) => JSON.stringify(chunk, null, 2)).join("\r\n,\r\n");
    return { bytes: Buffer.from(`[${list}\r\n]\r\n`), type: "application/json; charset=UTF-8", billed };
  }
  const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`);
  if (!switches.errorEvent) return { events, billed };
  // As the service does it within a stream that has begun: without "data:" (docs/wire.md section 12).
  const error = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
  return { events: [...events.slice(0, 1), JSON.stringify(error, null, 2)] };
}

/** Composes what a model says to a request, and what that costs. @param owner the key and the model: each has a prompt cache of its own */
export function complete(
  body: JsonObject,
  owner: [key: string, model: string],
  { switches }: ApiRequest,
  promptCache: RouteState["promptCache"],
): { completion: Completion; billed: BilledTokens } {
  const request = readContentRequest(body);
  const cached = countCachedTokens(owner, request.parts, promptCache);
  const completion = composeCompletion(request.prompt, request.maxTokens, switches);
  return { completion, billed: bill(completion, { tokens: sumTokens(request.parts), cached }) };
}

/** `:countTokens`: the tokens of the whole input, of `contents` or of a whole request. */
export function countContentTokens(call: ApiRequest): ApiResponse {
  modelIn(call);
  const { generateContentRequest: whole } = call.body;
  const { parts } = readContentRequest((whole ?? call.body) as JsonObject);
  return { body: { totalTokens: sumTokens(parts) } };
}

/** `:embedContent` and `:batchEmbedContents`: vectors that mean nothing. The first says how many tokens its text has. */
export function embedContent(call: ApiRequest): ApiResponse {
  modelIn(call);
  const { body, path, switches } = call;
  const isBatch = path.endsWith("batchEmbedContents");
  const texts = (isBatch ? pickObjects(body["requests"]) : [body]).map(({ content }) =>
    JSON.stringify(content ?? {}),
  );
  const tokens = sumTokens(texts);
  const embeddings = texts.map((text) => ({
    values: Array.from({ length: DIMENSIONS }, (_, at) => text.length / (at + 1)),
  }));
  const usage = switches.noUsage ? {} : { usageMetadata: { promptTokenCount: tokens } };
  const billed = { input_uncached: tokens, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 };
  return { body: isBatch ? { embeddings, ...usage } : { embedding: embeddings[0], ...usage }, billed };
}

/** The list of Google's models. */
export function listGeminiModels(): ApiResponse {
  return { body: { models: GEMINI_MODELS.map(describeModel) } };
}

/** One of them. */
export function fetchGeminiModel(call: ApiRequest): ApiResponse {
  return { body: describeModel(modelIn(call)) };
}

function describeModel(name: string): JsonObject {
  return {
    name: `models/${name}`,
    version: "sandbox",
    displayName: `${name} (sandbox)`,
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: methodsOf(name),
  };
}

function methodsOf(model: string): string[] {
  if (model.includes("embedding")) return ["embedContent", "batchEmbedContents"];
  return model.includes("live") ? ["bidiGenerateContent"] : ["generateContent", "countTokens"];
}

/** Returns the model that the path names. @throws ApiError 404 for one that the key has not */
export function modelIn(call: ApiRequest): string {
  const model = readGooglePath(call.path)?.named?.model ?? "";
  requireModel(call, model);
  return model;
}

/** Returns what a completion costs, given the tokens of its input, and those of them that were cached. */
export function bill(completion: Completion, input: { tokens: number; cached: number }): BilledTokens {
  const reasoning = countReasoningTokens(completion);
  return {
    input_uncached: input.tokens - input.cached,
    cache_read: input.cached,
    cache_write: 0,
    output: reasoning + countVisible(completion),
    reasoning,
  };
}

/** Thoughts are counted beside what is shown. The end of a turn is a token as well. */
function countVisible({ text, toolCall }: Completion): number {
  return Math.max(1, countTokens(text ?? "") + countTokens(toolCall?.argumentsJson ?? ""));
}

/** The chunks of a stream: the prompt's count in each, the whole usage in the last, as recorded (docs/wire.md section 12). */
function composeChunks(
  { switches }: ApiRequest,
  model: string,
  completion: Completion,
  billed: BilledTokens,
): JsonObject[] {
  const responseId = makeId("resp");
  const parts = composeParts(completion);
  const prompt = billed.input_uncached + billed.cache_read;
  const { cache_read: cached, output, reasoning } = billed;
  const usage = {
    promptTokenCount: prompt,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    candidatesTokenCount: output - reasoning,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + output,
  };
  const first = { promptTokenCount: prompt, totalTokenCount: prompt };
  return parts.map((part, at) => {
    const isLast = at === parts.length - 1;
    return {
      candidates: [
        {
          content: { role: "model", parts: [part] },
          index: 0,
          ...(isLast && { finishReason: finishReason(completion) }),
        },
      ],
      ...(!switches.noUsage && { usageMetadata: isLast ? usage : first }),
      modelVersion: model,
      responseId,
    };
  });
}

function composeParts({ reasoning, text, toolCall }: Completion): JsonObject[] {
  const parts: JsonObject[] = [
    ...splitIntoChunks(reasoning ?? "").map((piece) => ({ text: piece, thought: true })),
    ...splitIntoChunks(text ?? "").map((piece) => ({ text: piece })),
  ];
  if (toolCall !== null) {
    const args = JSON.parse(toolCall.argumentsJson) as JsonObject;
    parts.push({
      functionCall: { name: toolCall.name, args },
      thoughtSignature: sealReasoning(toolCall.name),
    });
  }
  return parts.length > 0 ? parts : [{ text: "" }];
}

function finishReason({ stop }: Completion): string {
  if (stop === "limit") return "MAX_TOKENS";
  return stop === "refused" ? "SAFETY" : "STOP";
}

function partsOf(candidates: unknown): unknown {
  const content = pickObjects(candidates)[0]?.["content"];
  return isObject(content) ? content["parts"] : [];
}

/** The same as one response. */
function joinChunks(chunks: readonly JsonObject[]): JsonObject {
  const parts: JsonObject[] = [];
  for (const { candidates } of chunks) {
    const [part = {}] = pickObjects(partsOf(candidates));
    const last = parts.at(-1);
    const continues = typeof part["text"] === "string" && typeof last?.["text"] === "string";
    if (continues && part["thought"] === last["thought"])
      last["text"] = `${String(last["text"])}${String(part["text"])}`;
    else parts.push({ ...part });
  }
  const final = chunks.at(-1) ?? {};
  const [candidate = {}] = pickObjects(final["candidates"]);
  return { ...final, candidates: [{ ...candidate, content: { role: "model", parts } }] };
}
