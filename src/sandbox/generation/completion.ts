import type { JsonObject } from "../../core/json.ts";
import { sampleFromSchema } from "./schema-sample.ts";
import type { Switches } from "../switches.ts";
import { countTokens, sumTokens, truncateToTokens } from "./tokens.ts";

const LABEL = "[sandbox]";
const QUOTED_CHARACTERS = 400;
const REASONING = "The sandbox is not a model: it repeats what it was told, and calls a tool when asked to.";

/** A tool that the client offers to run. */
interface ToolDefinition {
  name: string;
  schema: JsonObject;
}

/** What a completion depends on, independent of the API. */
export interface Prompt {
  /** The text that the user typed last. */
  lastText: string;
  /** The result of a tool call, when the request brings one; null otherwise. */
  toolResult: string | null;
  tools: readonly ToolDefinition[];
  wantsReasoning: boolean;
  /** JSON Schema that the text has to match; null for prose. */
  schema: JsonObject | null;
}

/** What the sandbox generates, independent of the API. Missing parts are null. */
export interface Completion {
  reasoning: string | null;
  text: string | null;
  toolCall: { name: string; argumentsJson: string } | null;
  stop: "done" | "limit" | "refused" | "paused";
}

/**
 * Returns the text that the user typed, out of the texts of a turn: the last one that does not begin with a tag. Clients
 * add tagged context of their own (`<system-reminder>`, `<environment_context>`) before and after the prompt.
 */
export function findTypedText(texts: readonly string[]): string {
  return texts.findLast((text) => !text.trimStart().startsWith("<")) ?? texts.at(-1) ?? "";
}

/** Returns a completion of at most `limit` tokens. Equal requests get equal completions. */
export function composeCompletion(prompt: Prompt, limit: number, switches: Switches): Completion {
  if (switches.refuse) return { reasoning: null, text: null, toolCall: null, stop: "refused" };
  const tool = requestedTool(prompt);
  const whole: Completion = {
    reasoning: prompt.wantsReasoning ? REASONING : null,
    text: tool === undefined ? composeText(prompt) : null,
    toolCall: tool === undefined ? null : composeToolCall(tool),
    stop: switches.pause ? "paused" : "done",
  };
  return truncate(whole, limit);
}

/** Returns the output tokens to bill. Never 0, because the end of the turn is a token as well. */
export function countOutputTokens({ reasoning, text, toolCall }: Completion): number {
  return Math.max(1, sumTokens([reasoning ?? "", text ?? "", toolCall?.argumentsJson ?? ""]));
}

/** Returns the share of the output tokens that is reasoning. */
export function countReasoningTokens({ reasoning }: Completion): number {
  return countTokens(reasoning ?? "");
}

/** Returns reasoning as a signature or encrypted content, which clients treat as opaque and send back unchanged. */
export function sealReasoning(reasoning: string): string {
  return Buffer.from(`sandbox:${reasoning}`).toString("base64");
}

/** Arguments are always an object, even when the schema does not say so. */
function composeToolCall({ name, schema }: ToolDefinition): Completion["toolCall"] {
  return { name, argumentsJson: JSON.stringify(sampleFromSchema({ type: "object", ...schema })) };
}

/** Real clients offer dozens of tools with every prompt, so a tool is only called when the text asks for it by name. */
function requestedToolName(prompt: Prompt): string | undefined {
  return /\buse the tool ["'`]?([\w-]+)/i.exec(prompt.lastText)?.[1];
}

function requestedTool(prompt: Prompt): ToolDefinition | undefined {
  if (prompt.toolResult !== null) return undefined;
  const name = requestedToolName(prompt);
  return prompt.tools.find((tool) => tool.name === name);
}

function composeText(prompt: Prompt): string {
  if (prompt.schema !== null) return JSON.stringify(sampleFromSchema(prompt.schema));
  if (prompt.toolResult !== null) return `${LABEL} The tool returned: ${quote(prompt.toolResult)}`;
  const name = requestedToolName(prompt);
  if (name !== undefined)
    return `${LABEL} You asked for the tool ${name}, but the request offers no tool of that name.`;
  return `${LABEL} You said: ${quote(prompt.lastText)}`;
}

function quote(text: string): string {
  const characters = Array.from(text.trim());
  if (characters.length <= QUOTED_CHARACTERS) return characters.join("");
  return `${characters.slice(0, QUOTED_CHARACTERS).join("")}…`;
}

function truncate(whole: Completion, limit: number): Completion {
  if (countOutputTokens(whole) <= limit) return whole;
  const reasoning = whole.reasoning === null ? null : truncateToTokens(whole.reasoning, limit);
  const rest = limit - countTokens(reasoning ?? "");
  const text = whole.text === null ? "" : truncateToTokens(whole.text, rest);
  // A truncated tool call would be useless, so it is omitted altogether.
  return { reasoning, text: text === "" ? null : text, toolCall: null, stop: "limit" };
}
