import { composeAnswer, outputTokens, thoughtTokens, type Answer } from "./answer.ts";
import { breakStream, type Call, type Reply, type StreamEvent } from "./call.ts";
import { messagesErrorType } from "./errors.ts";
import { requireModel } from "./keys.ts";
import { composeMessage, type Message } from "./messages/message.ts";
import { messageEvents } from "./messages/events.ts";
import { billInput, countInput, type CachedInput } from "./messages/input.ts";
import { readMaxTokens, readMessagesRequest } from "./messages/request.ts";
import type { PrefixMemory } from "./prefix-memory.ts";
import type { Billed } from "./tally.ts";

const OVERLOADED: StreamEvent = {
  type: "error",
  error: { details: null, type: messagesErrorType(529), message: "Overloaded" },
};

/** `POST /messages`: one message, as JSON or as a stream. */
export function createMessage(call: Call, memory: PrefixMemory): Reply {
  const request = readMessagesRequest(call.body);
  const limit = readMaxTokens(call.body);
  requireModel(call.models, request.model, "messages");
  const input = billInput(request.parts, [call.key.secret, request.model], memory);
  const answer = composeAnswer(request.prompt, limit, call.switches);
  const { usage, ...rest } = composeMessage(request.model, answer, input);
  const message: Message = call.switches.noUsage ? rest : { ...rest, usage };
  const billed = billOf(input, answer);
  if (!request.stream) return { body: { ...message }, billed };
  const events = messageEvents(message);
  return call.switches.errorEvent ? { events: breakStream(events, [OVERLOADED]) } : { events, billed };
}

/** `POST /messages/count_tokens`: the whole input; leaves the cache as it is. */
export function countMessageTokens(call: Call): Reply {
  const request = readMessagesRequest(call.body);
  requireModel(call.models, request.model, "messages");
  return { body: { input_tokens: countInput(request.parts) } };
}

function billOf(input: CachedInput, answer: Answer): Billed {
  return {
    input_uncached: input.uncached,
    cache_read: input.read,
    cache_write: input.written["5m"] + input.written["1h"],
    output: outputTokens(answer),
    reasoning: thoughtTokens(answer),
  };
}
