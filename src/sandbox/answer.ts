import type { JsonObject } from "./json.ts";
import { sampleOf } from "./sample.ts";
import type { Switches } from "./switches.ts";
import { countTokens, firstTokens } from "./tokens.ts";

const LABEL = "[sandbox]";
const QUOTED_CHARACTERS = 400;
const THOUGHT = "The sandbox is no model: it says again what it was told, and calls a tool when asked to.";

/** A tool that the client offers to run. */
export interface ToolOffer {
  name: string;
  schema: JsonObject;
}

/** What the answer depends on, whichever API asked. */
export interface Prompt {
  /** What the person said last. */
  lastText: string;
  /** What a client's tool gave back, when the request brings that; null otherwise. */
  toolResult: string | null;
  tools: readonly ToolOffer[];
  wantsThought: boolean;
  /** JSON Schema that the text must fit; null for prose. */
  schema: JsonObject | null;
}

/** What the sandbox says, before it has the shape of either API. Parts that it does not have are null. */
export interface Answer {
  thought: string | null;
  text: string | null;
  call: { name: string; argumentsJson: string } | null;
  end: "done" | "limit" | "refused" | "paused";
}

/** The answer to `prompt` in at most `limit` tokens: always the same for the same request. */
export function composeAnswer(prompt: Prompt, limit: number, switches: Switches): Answer {
  if (switches.refuse) return { thought: null, text: null, call: null, end: "refused" };
  const tool = askedTool(prompt);
  const whole: Answer = {
    thought: prompt.wantsThought ? THOUGHT : null,
    text: tool === undefined ? textFor(prompt) : null,
    call: tool === undefined ? null : callOf(tool),
    end: switches.pause ? "paused" : "done",
  };
  return cutToLimit(whole, limit);
}

/** Tokens that the answer is billed at. Never 0: ending the turn is a token too. */
export function outputTokens(answer: Answer): number {
  const parts = [answer.thought, answer.text, answer.call?.argumentsJson];
  return Math.max(
    1,
    parts.reduce((sum, part) => sum + countTokens(part ?? ""), 0),
  );
}

export function thoughtTokens(answer: Answer): number {
  return countTokens(answer.thought ?? "");
}

/** Arguments are an object, also where the schema leaves that out. */
function callOf({ name, schema }: ToolOffer): Answer["call"] {
  return { name, argumentsJson: JSON.stringify(sampleOf({ type: "object", ...schema })) };
}

/** Real tools send dozens of tools with every prompt, so one is called only by these words. */
function askedName(prompt: Prompt): string | undefined {
  return /\buse the tool ["'`]?([\w-]+)/i.exec(prompt.lastText)?.[1];
}

function askedTool(prompt: Prompt): ToolOffer | undefined {
  if (prompt.toolResult !== null) return undefined;
  const name = askedName(prompt);
  return prompt.tools.find((tool) => tool.name === name);
}

function textFor(prompt: Prompt): string {
  if (prompt.schema !== null) return JSON.stringify(sampleOf(prompt.schema));
  if (prompt.toolResult !== null) return `${LABEL} The tool answered: ${quote(prompt.toolResult)}`;
  const name = askedName(prompt);
  if (name !== undefined)
    return `${LABEL} You asked for the tool ${name}, but the request offers none of that name.`;
  return `${LABEL} You said: ${quote(prompt.lastText)}`;
}

function quote(text: string): string {
  const characters = Array.from(text.trim());
  if (characters.length <= QUOTED_CHARACTERS) return characters.join("");
  return `${characters.slice(0, QUOTED_CHARACTERS).join("")}…`;
}

function cutToLimit(whole: Answer, limit: number): Answer {
  if (outputTokens(whole) <= limit) return whole;
  const thought = whole.thought === null ? null : firstTokens(whole.thought, limit);
  const left = limit - countTokens(thought ?? "");
  const text = whole.text === null ? "" : firstTokens(whole.text, left);
  // Half a tool call is of no use to anybody: it is left out whole.
  return { thought, text: text === "" ? null : text, call: null, end: "limit" };
}
