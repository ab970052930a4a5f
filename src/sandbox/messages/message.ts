import type { JsonObject } from "../../core/json.ts";
import {
  countOutputTokens,
  countReasoningTokens,
  sealReasoning,
  type Completion,
} from "../generation/completion.ts";
import { makeId } from "../ids.ts";
import type { BilledInput } from "./input.ts";

export type ContentBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: JsonObject };

/** A finished message, as in a JSON response. */
export interface Message {
  model: string;
  id: string;
  type: "message";
  role: "assistant";
  content: ContentBlock[];
  stop_reason: string;
  stop_sequence: null;
  stop_details: JsonObject | null;
  usage?: ReturnType<typeof composeUsage>;
}

const STOP_REASONS = { limit: "max_tokens", refused: "refusal", paused: "pause_turn" } as const;
const EXPLANATION = "The sandbox refused because it was asked to.";
const REFUSAL = { type: "refusal", category: null, explanation: EXPLANATION };

/** Returns a completion in the shape of a message. */
export function composeMessage(model: string, completion: Completion, input: BilledInput): Required<Message> {
  return {
    model,
    id: makeId("msg"),
    type: "message",
    role: "assistant",
    content: composeContent(completion),
    stop_reason: stopReasonOf(completion),
    stop_sequence: null,
    stop_details: completion.stop === "refused" ? REFUSAL : null,
    usage: composeUsage(input, completion),
  };
}

function stopReasonOf({ stop, toolCall }: Completion): string {
  if (stop !== "done") return STOP_REASONS[stop];
  return toolCall === null ? "end_turn" : "tool_use";
}

function composeContent({ reasoning, text, toolCall }: Completion): ContentBlock[] {
  const content: ContentBlock[] = [];
  if (reasoning !== null)
    content.push({ type: "thinking", thinking: reasoning, signature: sealReasoning(reasoning) });
  if (text !== null) content.push({ type: "text", text });
  if (toolCall !== null) {
    const input = JSON.parse(toolCall.argumentsJson) as JsonObject;
    content.push({ type: "tool_use", id: makeId("toolu"), name: toolCall.name, input });
  }
  return content;
}

/** Returns usage with the fields of recent recordings in their order. */
function composeUsage(input: BilledInput, completion: Completion) {
  return {
    input_tokens: input.uncached,
    cache_creation_input_tokens: input.written["5m"] + input.written["1h"],
    cache_read_input_tokens: input.read,
    cache_creation: {
      ephemeral_5m_input_tokens: input.written["5m"],
      ephemeral_1h_input_tokens: input.written["1h"],
    },
    output_tokens: countOutputTokens(completion),
    ...(completion.reasoning !== null && {
      output_tokens_details: { thinking_tokens: countReasoningTokens(completion) },
    }),
    service_tier: "standard",
    inference_geo: "not_available",
  };
}
