import type { ApiRequest, ApiResponse, RouteState } from "./api.ts";
import {
  composeCompletion,
  countOutputTokens,
  countReasoningTokens,
  type Completion,
} from "./generation/completion.ts";
import { messagesErrorType } from "./errors.ts";
import { failStream, renderEvents, type StreamEvent } from "./http/event-stream.ts";
import { messageEvents } from "./messages/events.ts";
import { billInput, countInput, type BilledInput } from "./messages/input.ts";
import { composeMessage, type Message } from "./messages/message.ts";
import { readMaxTokens, readMessagesRequest } from "./messages/request.ts";
import { requireModel } from "./models.ts";
import type { BilledTokens } from "./tally.ts";

const OVERLOADED: StreamEvent = {
  type: "error",
  error: { details: null, type: messagesErrorType(529), message: "Overloaded" },
};

/** `POST /messages`: returns one message, as JSON or as a stream. */
export function createMessage(call: ApiRequest, { promptCache }: RouteState): ApiResponse {
  const { body, key, switches } = call;
  const request = readMessagesRequest(body);
  const limit = readMaxTokens(body);
  requireModel(call, request.model);
  const input = billInput(request.parts, [key.secret, request.model], promptCache);
  const completion = composeCompletion(request.prompt, limit, switches);
  const { usage, ...rest } = composeMessage(request.model, completion, input);
  const message: Message = switches.noUsage ? rest : { ...rest, usage };
  const billed = billTokens(input, completion);
  if (!request.stream) return { body: { ...message }, billed };
  const events = messageEvents(message);
  if (switches.errorEvent) return { events: renderEvents(failStream(events, [OVERLOADED])) };
  return { events: renderEvents(events), billed };
}

/** `POST /messages/count_tokens`: returns the tokens of the whole input, without touching the prompt cache. */
export function countMessageTokens(call: ApiRequest): ApiResponse {
  const request = readMessagesRequest(call.body);
  requireModel(call, request.model);
  return { body: { input_tokens: countInput(request.parts) } };
}

/** Returns what a completion costs, in the terms of the sandbox's books. */
export function billTokens(input: BilledInput, completion: Completion): BilledTokens {
  return {
    input_uncached: input.uncached,
    cache_read: input.read,
    cache_write: input.written["5m"] + input.written["1h"],
    output: countOutputTokens(completion),
    reasoning: countReasoningTokens(completion),
  };
}
