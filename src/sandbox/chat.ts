import type { ApiRequest, ApiResponse, RouteState } from "./api.ts";
import { composeChatChunks, composeChatCompletion, composeChoices, TRAILER } from "./chat/chat-completion.ts";
import { readChatRequest } from "./chat/request.ts";
import { writeStream } from "./chat/stream.ts";
import { attachUsage } from "./chat/usage.ts";
import {
  composeCompletion,
  countOutputTokens,
  countReasoningTokens,
  type Completion,
} from "./generation/completion.ts";
import { countCachedTokens } from "./generation/prompt-cache.ts";
import { sumTokens } from "./generation/tokens.ts";
import { requireModel } from "./models.ts";
import type { BilledTokens } from "./tally.ts";

/** `POST /chat/completions`: returns one chat completion, as JSON or as a stream. */
export function createChatCompletion(call: ApiRequest, { promptCache }: RouteState): ApiResponse {
  const { body, key, switches } = call;
  const request = readChatRequest(body);
  const { model, n, parts } = request;
  requireModel(call, model);
  const cached = countCachedTokens([key.secret, model, request.promptCacheKey ?? ""], parts, promptCache);
  const completion = composeCompletion(request.prompt, request.maxTokens, switches);
  const billed = billChoices(completion, n, { tokens: sumTokens(parts), cached });
  const choices = composeChoices(completion, n);
  if (!request.stream)
    return { body: attachUsage(composeChatCompletion(model, choices), billed, switches, TRAILER), billed };
  const stream = { chunks: composeChatChunks(model, choices), billed, isAsked: request.includeUsage };
  return { events: writeStream(stream, switches), ...(!switches.errorEvent && { billed }) };
}

/** The input is billed once, the output of every choice. */
function billChoices(
  completion: Completion,
  n: number,
  input: { tokens: number; cached: number },
): BilledTokens {
  return {
    input_uncached: input.tokens - input.cached,
    cache_read: input.cached,
    cache_write: 0,
    output: n * countOutputTokens(completion),
    reasoning: n * countReasoningTokens(completion),
  };
}
