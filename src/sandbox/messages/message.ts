import { outputTokens, thoughtTokens, type Answer } from "../answer.ts";
import { makeId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { CachedInput } from "./input.ts";

export type ContentBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: JsonObject };

/** Usage with the fields of the newest recordings, in their order. */
export interface MessageUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
  output_tokens: number;
  output_tokens_details?: { thinking_tokens: number };
  service_tier: string;
  inference_geo: string;
}

/** A finished message as the JSON answer has it. */
export interface Message {
  model: string;
  id: string;
  type: "message";
  role: "assistant";
  content: ContentBlock[];
  stop_reason: string;
  stop_sequence: null;
  stop_details: JsonObject | null;
  usage?: MessageUsage;
}

const STOP_REASONS = { limit: "max_tokens", refused: "refusal", paused: "pause_turn" } as const;
const REFUSAL = {
  type: "refusal",
  category: null,
  explanation: "The sandbox refused because it was asked to.",
};

/** Gives an answer the shape of a message. */
export function composeMessage(model: string, answer: Answer, input: CachedInput): Required<Message> {
  return {
    model,
    id: makeId("msg"),
    type: "message",
    role: "assistant",
    content: composeContent(answer),
    stop_reason: answer.end === "done" ? doneReason(answer) : STOP_REASONS[answer.end],
    stop_sequence: null,
    stop_details: answer.end === "refused" ? REFUSAL : null,
    usage: composeUsage(input, answer),
  };
}

function doneReason(answer: Answer): string {
  return answer.call === null ? "end_turn" : "tool_use";
}

function composeContent(answer: Answer): ContentBlock[] {
  const content: ContentBlock[] = [];
  if (answer.thought !== null) {
    content.push({ type: "thinking", thinking: answer.thought, signature: signatureOf(answer.thought) });
  }
  if (answer.text !== null) content.push({ type: "text", text: answer.text });
  if (answer.call !== null) {
    const input = JSON.parse(answer.call.argumentsJson) as JsonObject;
    content.push({ type: "tool_use", id: makeId("toolu"), name: answer.call.name, input });
  }
  return content;
}

/** Opaque to clients, which send it back as it came. */
function signatureOf(thought: string): string {
  return Buffer.from(`sandbox:${thought}`).toString("base64");
}

function composeUsage(input: CachedInput, answer: Answer): MessageUsage {
  return {
    input_tokens: input.uncached,
    cache_creation_input_tokens: input.written["5m"] + input.written["1h"],
    cache_read_input_tokens: input.read,
    cache_creation: {
      ephemeral_5m_input_tokens: input.written["5m"],
      ephemeral_1h_input_tokens: input.written["1h"],
    },
    output_tokens: outputTokens(answer),
    ...(answer.thought !== null && { output_tokens_details: { thinking_tokens: thoughtTokens(answer) } }),
    service_tier: "standard",
    inference_geo: "not_available",
  };
}
