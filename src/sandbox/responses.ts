import type { ApiRequest, ApiResponse, RouteState } from "./api.ts";
import { composeCompletion, sealReasoning } from "./generation/completion.ts";
import { ApiError } from "./errors.ts";
import { failStream, renderEvents, type StreamEvent } from "./http/event-stream.ts";
import { makeId } from "./ids.ts";
import { requireModel } from "./models.ts";
import { countCachedTokens } from "./generation/prompt-cache.ts";
import { numberEvents, responseEvents } from "./responses/events.ts";
import { readResponsesRequest, type ResponsesRequest } from "./responses/request.ts";
import {
  composeResponse,
  toFailed,
  toWarmup,
  toUnfinished,
  type ResponseObject,
  type ResponseUsage,
} from "./responses/response.ts";
import type { BilledTokens } from "./tally.ts";
import { sumTokens } from "./generation/tokens.ts";

const FAULT = { code: "server_error", message: "The server had an error while processing your request." };

/** A response that has been created, and what was asked for. */
interface Created {
  request: ResponsesRequest;
  response: ResponseObject & { usage: ResponseUsage };
}

/**
 * `POST /responses`: returns one response, as JSON or as a stream. With `background` and without `stream` it is queued; the
 * first fetch finishes and bills it.
 */
export function createResponse(call: ApiRequest, state: RouteState): ApiResponse {
  const { key, switches } = call;
  const { request, response: whole } = compose(call, state);
  const billed = billTokens(whole.usage);
  const response = switches.noUsage ? { ...whole, usage: null } : whole;
  if (request.stream && switches.errorEvent) return { events: renderEvents(failedEvents(response)) };
  const isQueued = request.background && !request.stream;
  if (request.store || isQueued) {
    const unbilled = isQueued ? billed : null;
    state.responses.keep({ owner: key.name, response, input: request.items, unbilled });
  }
  if (isQueued) return { body: toUnfinished(response, "queued") };
  return request.stream
    ? { events: renderEvents(responseEvents(response)), billed }
    : { body: response, billed };
}

/**
 * `response.create` on a WebSocket: returns the events of a response. With `generate: false` it only reads the input. The response can be
 * continued on its WebSocket, and with `store` elsewhere, too: `state.responses` is what the WebSocket knows, and `stored` what all do.
 */
export function createOnSocket(
  call: ApiRequest,
  state: RouteState,
  stored: RouteState["responses"],
): { events: StreamEvent[]; billed?: BilledTokens } {
  const { key, switches, body } = call;
  const { request, response: generated } = compose(call, state);
  const whole = body["generate"] === false ? toWarmup(generated) : generated;
  const response = switches.noUsage ? { ...whole, usage: null } : whole;
  if (switches.errorEvent) return { events: failedEvents(response) };
  for (const store of request.store ? [state.responses, stored] : [state.responses])
    store.keep({ owner: key.name, response, input: request.items, unbilled: null });
  return { events: responseEvents(response), billed: billTokens(whole.usage) };
}

function compose(call: ApiRequest, state: RouteState): Created {
  const { body, switches } = call;
  const request = readResponsesRequest(body);
  requireModel(call, request.model);
  const input = countInput(call, request, state);
  const completion = composeCompletion(request.prompt, request.maxOutputTokens, switches);
  return { request, response: composeResponse(body, request, completion, input) };
}

/** `POST /responses/compact`: returns the conversation in fewer items, with its usage. */
export function compactResponse(call: ApiRequest, state: RouteState): ApiResponse {
  const { response } = compose(call, state);
  const { usage, created_at } = response;
  const item = { id: makeId("cmp"), type: "compaction", encrypted_content: sealReasoning("compacted") };
  const content = [{ type: "input_text", text: "[sandbox] compacted" }];
  const output = [{ type: "message", role: "user", content }, item];
  const compaction = { id: makeId("resp"), object: "response.compaction", created_at, output };
  return {
    body: { ...compaction, usage: call.switches.noUsage ? null : usage },
    billed: billTokens(usage),
  };
}

/** `POST /responses/input_tokens`: returns the tokens of the whole input, without touching the prompt cache. */
export function countInputTokens(call: ApiRequest, { responses }: RouteState): ApiResponse {
  const request = readResponsesRequest(call.body);
  requireModel(call, request.model);
  const tokens = sumTokens(request.parts) + countPreviousTokens(request, call.key.name, responses);
  return { body: { object: "response.input_tokens", input_tokens: tokens } };
}

/** Counts the input, and how much of it the prompt cache already holds under the same cache key. */
function countInput(
  { key }: ApiRequest,
  request: ResponsesRequest,
  { promptCache, responses }: RouteState,
): { tokens: number; cached: number } {
  const scope = [key.secret, request.model, request.promptCacheKey ?? ""];
  return {
    tokens: sumTokens(request.parts) + countPreviousTokens(request, key.name, responses),
    cached: countCachedTokens(scope, request.parts, promptCache),
  };
}

/** The turns behind `previous_response_id` count as input again. */
function countPreviousTokens(
  { previousResponseId: id }: ResponsesRequest,
  owner: string,
  responses: RouteState["responses"],
): number {
  if (id === null) return 0;
  const previous = responses.find(id, owner);
  if (previous !== undefined) return previous.response.usage?.total_tokens ?? 0;
  throw new ApiError(400, `Previous response with id '${id}' not found.`, {
    code: "previous_response_not_found",
    param: "previous_response_id",
  });
}

/** Returns a stream that ends with an error event and the failed response, as in recorded streams. */
function failedEvents(response: ResponseObject): StreamEvent[] {
  const error = { type: "server_error", ...FAULT, param: null };
  const endings: StreamEvent[] = [
    { type: "error", error },
    { type: "response.failed", response: toFailed(response, FAULT) },
  ];
  return numberEvents(failStream(responseEvents(response), endings));
}

function billTokens(usage: ResponseUsage): BilledTokens {
  const cached = usage.input_tokens_details.cached_tokens;
  return {
    input_uncached: usage.input_tokens - cached,
    cache_read: cached,
    cache_write: 0,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.reasoning_tokens,
  };
}
