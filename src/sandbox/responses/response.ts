import { outputTokens, thoughtTokens, type Answer } from "../answer.ts";
import { makeId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
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

export interface OutputText {
  type: "output_text";
  annotations: [];
  logprobs: [];
  text: string;
}

export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

/** A response in any of its states; beside these fields it echoes most of the request. */
export interface ResponseObject extends JsonObject {
  id: string;
  status: "queued" | "in_progress" | "completed" | "incomplete" | "failed";
  output: OutputItem[];
  usage: ResponseUsage | null;
}

const INCOMPLETE_REASONS = { limit: "max_output_tokens", refused: "content_filter" } as const;

/** Gives an answer the shape of a finished response; the fields and their order are the recorded ones. */
export function composeResponse(
  body: JsonObject,
  request: ResponsesRequest,
  answer: Answer,
  input: { tokens: number; cached: number },
): ResponseObject & { usage: ResponseUsage } {
  const createdAt = Math.floor(Date.now() / 1000);
  const reason = answer.end === "limit" || answer.end === "refused" ? INCOMPLETE_REASONS[answer.end] : null;
  return {
    id: makeId("resp"),
    object: "response",
    created_at: createdAt,
    status: reason === null ? "completed" : "incomplete",
    background: request.background,
    completed_at: reason === null ? createdAt : null,
    error: null,
    ...echo(body, BEFORE_INCOMPLETE),
    incomplete_details: reason === null ? null : { reason },
    ...echo(body, BEFORE_OUTPUT),
    output: composeOutput(request, answer, reason === null ? "completed" : "incomplete"),
    ...echo(body, BEFORE_TIER),
    service_tier: "default",
    ...echo(body, BEFORE_USAGE),
    usage: composeUsage(answer, input),
    ...echo(body, AFTER_USAGE),
  };
}

/** The same response before its answer: what `response.created` and a queued response show. */
export function unfinished(response: ResponseObject, status: "queued" | "in_progress"): ResponseObject {
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

/** The same response after a fault; without usage, as recorded. */
export function failed(response: ResponseObject, error: { code: string; message: string }): ResponseObject {
  return { ...unfinished(response, "in_progress"), status: "failed", error };
}

/** Request fields that a response repeats, with their defaults, by where they stand in it. */
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

function composeOutput(request: ResponsesRequest, answer: Answer, status: string): OutputItem[] {
  const output: OutputItem[] = [];
  if (answer.thought !== null) output.push(composeReasoning(request, answer.thought));
  if (answer.text !== null) {
    const content: OutputText = { type: "output_text", annotations: [], logprobs: [], text: answer.text };
    output.push({ id: makeId("msg"), type: "message", status, content: [content], role: "assistant" });
  }
  if (answer.call !== null) {
    const { name, argumentsJson } = answer.call;
    const ids = { id: makeId("fc"), call_id: makeId("call") };
    output.push({ ...ids, type: "function_call", status, arguments: argumentsJson, name });
  }
  return output;
}

function composeReasoning({ reasoning }: ResponsesRequest, thought: string): OutputItem {
  return {
    id: makeId("rs"),
    type: "reasoning",
    ...(reasoning.encrypted && {
      encrypted_content: Buffer.from(`sandbox:${thought}`).toString("base64"),
    }),
    summary: reasoning.summary ? [{ type: "summary_text", text: thought }] : [],
  };
}

function composeUsage(answer: Answer, input: { tokens: number; cached: number }): ResponseUsage {
  return {
    input_tokens: input.tokens,
    input_tokens_details: { cached_tokens: input.cached },
    output_tokens: outputTokens(answer),
    output_tokens_details: { reasoning_tokens: thoughtTokens(answer) },
    total_tokens: input.tokens + outputTokens(answer),
  };
}
