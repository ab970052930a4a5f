import type { JsonObject } from "../../core/json.ts";
import type { Completion } from "../generation/completion.ts";
import { splitIntoChunks } from "../generation/tokens.ts";
import { makeId } from "../ids.ts";
import { interleave } from "./stream.ts";
import type { Chunk } from "./usage-placement.ts";

/** One token, which is what a refused completion is billed. */
const REFUSAL = "No.";

/** Members that follow the usage. */
export const TRAILER = { service_tier: "default", system_fingerprint: null };

interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

interface ChatMessage extends JsonObject {
  role: "assistant";
  content: string | null;
  refusal: string | null;
  tool_calls?: ToolCall[];
}

/** One of the choices of a chat completion. */
interface Choice {
  index: number;
  message: ChatMessage;
  finish_reason: string;
}

/** Returns `n` choices with the same content. Their tool calls have different ids. */
export function composeChoices(completion: Completion, n: number): Choice[] {
  const finish_reason = finishReasonOf(completion);
  return Array.from({ length: n }, (_, index) => ({
    index,
    message: composeMessage(completion),
    finish_reason,
  }));
}

/** Returns a chat completion without its usage, with the fields of recorded ones in their order. */
export function composeChatCompletion(model: string, choices: readonly Choice[]): JsonObject {
  return { ...heading("chat.completion", model), choices: choices.map(withAnnotations) };
}

/** Returns the chunks that stream the choices, without usage. The pieces of several choices alternate. */
export function composeChatChunks(model: string, choices: readonly Choice[]): Chunk[] {
  const head = heading("chat.completion.chunk", model);
  return interleave(choices.map(streamChoice)).map((choice) => ({ ...head, ...TRAILER, choices: [choice] }));
}

function heading(object: string, model: string): JsonObject {
  return { id: makeId("chatcmpl", "-"), object, created: Math.floor(Date.now() / 1000), model };
}

function finishReasonOf({ stop, toolCall }: Completion): string {
  if (stop === "limit") return "length";
  return toolCall === null ? "stop" : "tool_calls";
}

/** A hidden reasoning that used up the limit leaves an empty text, as in recordings. */
function composeMessage({ text, toolCall, stop }: Completion): ChatMessage {
  if (stop === "refused") return { role: "assistant", content: null, refusal: REFUSAL };
  if (toolCall === null) return { role: "assistant", content: text ?? "", refusal: null };
  const { name, argumentsJson } = toolCall;
  const call: ToolCall = {
    id: makeId("call"),
    type: "function",
    function: { name, arguments: argumentsJson },
  };
  return { role: "assistant", content: null, tool_calls: [call], refusal: null };
}

function withAnnotations({ index, message, finish_reason }: Choice): JsonObject {
  return { index, message: { ...message, annotations: [] }, finish_reason };
}

/** Returns the pieces of one choice: its role, its content, its finish reason. */
function streamChoice({ index, message, finish_reason }: Choice): JsonObject[] {
  const { opening, deltas } = splitMessage(message);
  return [
    ...[{ role: "assistant", ...opening }, ...deltas].map((delta) => ({ index, delta, finish_reason: null })),
    { index, delta: {}, finish_reason },
  ];
}

function splitMessage({ content, refusal, tool_calls: calls }: ChatMessage): {
  opening: JsonObject;
  deltas: JsonObject[];
} {
  if (refusal !== null)
    return {
      opening: { content: null, refusal: "" },
      deltas: splitIntoChunks(refusal).map((piece) => ({ refusal: piece })),
    };
  if (calls === undefined)
    return {
      opening: { content: "", refusal: null },
      deltas: splitIntoChunks(content ?? "").map((piece) => ({ content: piece })),
    };
  return { opening: { content: null, refusal: null }, deltas: calls.flatMap(splitCall) };
}

function splitCall(call: ToolCall, index: number): JsonObject[] {
  const { name, arguments: json } = call.function;
  return [
    { tool_calls: [{ index, ...call, function: { name, arguments: "" } }] },
    ...splitIntoChunks(json).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}
