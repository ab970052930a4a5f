import type { JsonObject } from "../../core/json.ts";
import {
  countOutputTokens,
  countReasoningTokens,
  sealReasoning,
  type Completion,
} from "../generation/completion.ts";
import { makeId } from "../ids.ts";
import type { ResponsesRequest } from "./request.ts";

export type OutputItem =
  | {
      id: string;
      type: "reasoning";
      encrypted_content?: string;
      summary: { type: "summary_text"; text: string }[];
    }
  | { id: string; type: "message"; status: string; content: OutputText[]; role: "assistant" }
  | { id: string; type: "function_call"; status: string; arguments: string; call_id: string; name: string };

interface OutputText {
  type: "output_text";
  annotations: [];
  logprobs: [];
  text: string;
}

export type ResponseUsage = ReturnType<typeof composeUsage>;

/** A response in any state. Besides these fields it repeats most of the request. */
export interface ResponseObject extends JsonObject {
  id: string;
  status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  output: OutputItem[];
  usage: ResponseUsage | null;
}

const INCOMPLETE_REASONS: Partial<Record<Completion["stop"], string>> = {
  limit: "max_output_tokens",
  refused: "content_filter",
};

/** Returns a completion in the shape of a finished response, with the fields of recorded responses in their order. */
export function composeResponse(
  body: JsonObject,
  request: ResponsesRequest,
  completion: Completion,
  input: { tokens: number; cached: number },
): ResponseObject & { usage: ResponseUsage } {
  const createdAt = Math.floor(Date.now() / 1000);
  const reason = INCOMPLETE_REASONS[completion.stop];
  const status = reason === undefined ? "completed" : "incomplete";
  return {
    id: makeId("resp"),
    object: "response",
    created_at: createdAt,
    status,
    background: request.background,
    completed_at: reason === undefined ? createdAt : null,
    error: null,
    ...echo(body, BEFORE_INCOMPLETE),
    incomplete_details: reason === undefined ? null : { reason },
    ...echo(body, BEFORE_OUTPUT),
    output: composeOutput(request, completion, status),
    ...echo(body, BEFORE_TIER),
    service_tier: "default",
    ...echo(body, BEFORE_USAGE),
    usage: composeUsage(completion, input),
    ...echo(body, AFTER_USAGE),
  };
}

/** Returns the response as it is before generation, in `response.created` and while it is queued. */
export function toUnfinished(response: ResponseObject, status: "queued" | "in_progress"): ResponseObject {
  return {
    ...response,
    status,
    completed_at: null,
    incomplete_details: null,
    output: [],
    service_tier: "auto",
    usage: null,
  };
}

/** Returns the response as it is after a server error. Like the recorded ones it has no usage. */
export function toFailed(response: ResponseObject, error: { code: string; message: string }): ResponseObject {
  return { ...toUnfinished(response, "in_progress"), status: "failed", error };
}

/** Returns the response as it is if it was only to be prepared: its input was read, and nothing generated. */
export function toWarmup<R extends ResponseObject & { usage: ResponseUsage }>(response: R): R {
  const { usage } = response;
  const none = { ...usage.output_tokens_details, reasoning_tokens: 0 };
  return {
    ...response,
    status: "completed",
    incomplete_details: null,
    output: [],
    usage: { ...usage, output_tokens: 0, output_tokens_details: none, total_tokens: usage.input_tokens },
  };
}

/** Request fields that a response repeats, with their defaults, grouped by their position in it. */
const BEFORE_INCOMPLETE = { frequency_penalty: 0 };
const BEFORE_OUTPUT = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: null,
  moderation: null,
};
const BEFORE_TIER = {
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  prompt_cache_retention: "in_memory",
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
};
const BEFORE_USAGE = {
  store: true,
  temperature: 1,
  text: { format: { type: "text" }, verbosity: "medium" },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
};
const AFTER_USAGE = { user: null, metadata: {} };

function echo(body: JsonObject, defaults: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, body[name] ?? value]));
}

function composeOutput(request: ResponsesRequest, completion: Completion, status: string): OutputItem[] {
  const output: OutputItem[] = [];
  if (completion.reasoning !== null) output.push(composeReasoning(request, completion.reasoning));
  if (completion.text !== null) {
    const content: OutputText = { type: "output_text", annotations: [], logprobs: [], text: completion.text };
    output.push({ id: makeId("msg"), type: "message", status, content: [content], role: "assistant" });
  }
  if (completion.toolCall !== null) {
    const { name, argumentsJson } = completion.toolCall;
    const ids = { id: makeId("fc"), call_id: makeId("call") };
    output.push({ ...ids, type: "function_call", status, arguments: argumentsJson, name });
  }
  return output;
}

function composeReasoning({ reasoning }: ResponsesRequest, reasoningText: string): OutputItem {
  return {
    id: makeId("rs"),
    type: "reasoning",
    ...(reasoning.encrypted && { encrypted_content: sealReasoning(reasoningText) }),
    summary: reasoning.summary ? [{ type: "summary_text", text: reasoningText }] : [],
  };
}

function composeUsage(completion: Completion, input: { tokens: number; cached: number }) {
  return {
    input_tokens: input.tokens,
    input_tokens_details: { cached_tokens: input.cached },
    output_tokens: countOutputTokens(completion),
    output_tokens_details: { reasoning_tokens: countReasoningTokens(completion) },
    total_tokens: input.tokens + countOutputTokens(completion),
  };
}
