import { isObject, type JsonObject } from "../../core/json.ts";
import { findTypedText, type Prompt } from "../generation/completion.ts";
import { ApiError } from "../errors.ts";
import { collectTexts, omit, pickObjects } from "../json.ts";

/** How long the prefix up to a cache breakpoint is kept. */
export type CacheLifetime = "5m" | "1h";

/** One part of the prompt. The prompt cache sees them in the order tools, system, messages. */
export interface PromptPart {
  text: string;
  /** The lifetime of the cache breakpoint on this part; null when there is none. */
  breakpoint: CacheLifetime | null;
}

/** The members of a Messages request that the sandbox evaluates. */
interface MessagesRequest {
  model: string;
  parts: PromptPart[];
  prompt: Prompt;
  stream: boolean;
}

/** Reads what message creation and token counting have in common. @throws ApiError 400 in the words of the real API */
export function readMessagesRequest(body: JsonObject): MessagesRequest {
  const model = body["model"];
  if (typeof model !== "string") throw new ApiError(400, "model: Field required");
  const messages = readMessages(body["messages"]);
  return {
    model,
    parts: readParts(body, messages),
    prompt: readPrompt(body, messages),
    stream: body["stream"] === true,
  };
}

/** Reads `max_tokens`, which only message creation requires. @throws ApiError 400 unless it is a positive integer */
export function readMaxTokens(body: JsonObject): number {
  const limit = body["max_tokens"];
  if (limit === undefined) throw new ApiError(400, "max_tokens: Field required");
  if (typeof limit === "number" && Number.isInteger(limit) && limit > 0) return limit;
  throw new ApiError(400, "max_tokens: Input should be a positive integer");
}

function readMessages(value: unknown): JsonObject[] {
  if (value === undefined) throw new ApiError(400, "messages: Field required");
  const messages = pickObjects(value);
  if (messages.length === 0) throw new ApiError(400, "messages: at least one message is required");
  for (const [at, { role, content }] of messages.entries()) {
    if (typeof role !== "string") throw new ApiError(400, `messages.${at}.role: Field required`);
    if (typeof content === "string" || Array.isArray(content)) continue;
    throw new ApiError(400, `messages.${at}.content: Field required`);
  }
  return messages;
}

function readParts(body: JsonObject, messages: readonly JsonObject[]): PromptPart[] {
  const parts = [
    ...pickObjects(body["tools"]).map(readPart),
    ...readContentParts(body["system"]),
    ...messages.flatMap((message) => readContentParts(message["content"])),
  ];
  const last = parts.at(-1);
  // A `cache_control` on the request itself is a breakpoint on its last block (Anthropic's "automatic caching").
  if (last !== undefined) last.breakpoint ??= readBreakpoint(body);
  return parts;
}

function readContentParts(content: unknown): PromptPart[] {
  if (typeof content === "string") return [{ text: content, breakpoint: null }];
  return pickObjects(content).map(readPart);
}

/** The text excludes the breakpoint. Clients move it with each turn, which must not change the prefix. */
function readPart(block: JsonObject): PromptPart {
  const { text } = block;
  const whole = typeof text === "string" ? text : JSON.stringify(omit(block, "cache_control"));
  return { text: whole, breakpoint: readBreakpoint(block) };
}

function readBreakpoint(block: JsonObject): CacheLifetime | null {
  const control = block["cache_control"];
  if (!isObject(control)) return null;
  return control["ttl"] === "1h" ? "1h" : "5m";
}

function readPrompt(body: JsonObject, messages: readonly JsonObject[]): Prompt {
  const content = messages.findLast(({ role }) => role === "user")?.["content"];
  const results = pickObjects(content).filter(({ type }) => type === "tool_result");
  const result = results.flatMap((block) => collectTexts(block["content"])).join("\n");
  const mode = isObject(body["thinking"]) ? body["thinking"]["type"] : undefined;
  return {
    lastText: findTypedText(collectTexts(content)),
    toolResult: results.length === 0 ? null : result,
    tools: readTools(body["tools"]),
    wantsReasoning: mode === "enabled" || mode === "adaptive",
    schema: readSchema(body),
  };
}

/** Returns the tools with a schema. Those without one run on the server, and the sandbox does not call them. */
function readTools(tools: unknown): Prompt["tools"] {
  return pickObjects(tools).flatMap(({ name, input_schema: schema }) =>
    typeof name === "string" && isObject(schema) ? [{ name, schema }] : [],
  );
}

/** Returns the JSON Schema of `output_config.format`, or of `output_format`, its name in the API's beta. */
function readSchema(body: JsonObject): JsonObject | null {
  const config = body["output_config"];
  const format = (isObject(config) ? config["format"] : undefined) ?? body["output_format"];
  if (!isObject(format) || format["type"] !== "json_schema") return null;
  return isObject(format["schema"]) ? format["schema"] : null;
}
