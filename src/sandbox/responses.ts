import { composeAnswer } from "./answer.ts";
import { breakStream, type Call, type Reply, type StreamEvent } from "./call.ts";
import { ApiError } from "./errors.ts";
import { requireModel } from "./keys.ts";
import { hashPrefixes, type PrefixMemory } from "./prefix-memory.ts";
import {
  composeResponse,
  failed,
  unfinished,
  type ResponseObject,
  type ResponseUsage,
} from "./responses/response.ts";
import type { ResponseStore } from "./responses/store.ts";
import { numbered, responseEvents } from "./responses/events.ts";
import { readResponsesRequest, type ResponsesRequest } from "./responses/request.ts";
import type { Billed } from "./tally.ts";
import { countTokens } from "./tokens.ts";

/** Shortest prefix that is cached, and the steps above it (OpenAI's documentation, "Prompt caching"). */
const CACHE_MINIMUM_TOKENS = 1024;
const CACHE_STEP_TOKENS = 128;

const FAULT = { code: "server_error", message: "The server had an error while processing your request." };

/**
 * `POST /responses`: one response, as JSON or as a stream. With `background` and no stream it is queued, and
 * finished (and billed) when it is first fetched.
 */
export function createResponse(call: Call, memory: PrefixMemory, store: ResponseStore): Reply {
  const request = readResponsesRequest(call.body);
  requireModel(call.models, request.model, "responses");
  const input = countInput(call, request, memory, store);
  const answer = composeAnswer(request.prompt, request.maxOutputTokens, call.switches);
  const whole = composeResponse(call.body, request, answer, input);
  const billed = billOf(whole.usage);
  const response = call.switches.noUsage ? { ...whole, usage: null } : whole;
  if (request.stream && call.switches.errorEvent) return { events: failedEvents(response) };
  const isQueued = request.background && !request.stream;
  if (request.store || isQueued) {
    store.keep({ owner: call.key.name, response, unbilled: isQueued ? billed : null });
  }
  if (isQueued) return { body: unfinished(response, "queued") };
  return request.stream ? { events: responseEvents(response), billed } : { body: response, billed };
}

/** `GET /responses/{id}`: a response made before with the same key. */
export function fetchResponse(call: Call, store: ResponseStore): Reply {
  const id = call.path.slice(call.path.lastIndexOf("/") + 1);
  const stored = store.find(id, call.key.name);
  if (stored === undefined) throw new ApiError(404, `Response with id '${id}' not found.`);
  const billed = stored.unbilled;
  stored.unbilled = null;
  return { body: stored.response, ...(billed !== null && { billed }) };
}

/** The input's tokens, and how many a repeated long beginning under the same cache key saves. */
function countInput(
  call: Call,
  request: ResponsesRequest,
  memory: PrefixMemory,
  store: ResponseStore,
): { tokens: number; cached: number } {
  const scope = [call.key.secret, request.model, request.promptCacheKey ?? ""];
  const hashes = hashPrefixes(scope, request.parts);
  const known = hashes.findLastIndex((hash) => memory.has(hash));
  for (const hash of hashes) memory.remember(hash);
  const cached = sumTokens(request.parts.slice(0, known + 1));
  return {
    tokens: sumTokens(request.parts) + earlierTokens(call, request, store),
    cached: cached < CACHE_MINIMUM_TOKENS ? 0 : cached - (cached % CACHE_STEP_TOKENS),
  };
}

/** Turns that `previous_response_id` stands for count as input again. */
function earlierTokens(call: Call, request: ResponsesRequest, store: ResponseStore): number {
  const id = request.previousResponseId;
  if (id === null) return 0;
  const previous = store.find(id, call.key.name);
  if (previous !== undefined) return previous.response.usage?.total_tokens ?? 0;
  throw new ApiError(400, `Previous response with id '${id}' not found.`, {
    code: "previous_response_not_found",
    param: "previous_response_id",
  });
}

function sumTokens(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + countTokens(part), 0);
}

/** An error event and then the failed response, as recorded. */
function failedEvents(response: ResponseObject): StreamEvent[] {
  const error = { type: "server_error", ...FAULT, param: null };
  const endings: StreamEvent[] = [
    { type: "error", error },
    { type: "response.failed", response: failed(response, FAULT) },
  ];
  return numbered(breakStream(responseEvents(response), endings));
}

function billOf(usage: ResponseUsage): Billed {
  const cached = usage.input_tokens_details.cached_tokens;
  return {
    input_uncached: usage.input_tokens - cached,
    cache_read: cached,
    cache_write: 0,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.reasoning_tokens,
  };
}
