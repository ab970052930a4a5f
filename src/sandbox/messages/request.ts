import type { Prompt } from "../answer.ts";
import { textsOf, typedText } from "../conversation.ts";
import { ApiError } from "../errors.ts";
import { isObject, objectsIn, without, type JsonObject } from "../json.ts";

/** How long a cache breakpoint keeps its prefix. */
export type CacheLifetime = "5m" | "1h";

/** One part of the prompt, in the order that the prompt cache sees: tools, system, messages. */
export interface PromptPart {
  text: string;
  /** Set where the client put a cache breakpoint on this part. */
  breakpoint: CacheLifetime | null;
}

/** The part of a Messages request that the sandbox looks at. */
export interface MessagesRequest {
  model: string;
  parts: PromptPart[];
  prompt: Prompt;
  stream: boolean;
}

/**
 * Reads the shape that message creation and token counting share.
 * @throws ApiError 400 naming the field at fault, in the API's own words
 */
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

/** @throws ApiError 400 unless `max_tokens` is a positive integer; message creation alone wants it. */
export function readMaxTokens(body: JsonObject): number {
  const limit = body["max_tokens"];
  if (limit === undefined) throw new ApiError(400, "max_tokens: Field required");
  if (typeof limit === "number" && Number.isInteger(limit) && limit > 0) return limit;
  throw new ApiError(400, "max_tokens: Input should be a positive integer");
}

function readMessages(value: unknown): JsonObject[] {
  if (value === undefined) throw new ApiError(400, "messages: Field required");
  const messages = objectsIn(value);
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
    ...objectsIn(body["tools"]).map(readPart),
    ...readContentParts(body["system"]),
    ...messages.flatMap((message) => readContentParts(message["content"])),
  ];
  const last = parts.at(-1);
  // A `cache_control` on the request itself stands for one on its last block (vendor's "automatic caching").
  if (last !== undefined) last.breakpoint ??= readBreakpoint(body);
  return parts;
}

function readContentParts(content: unknown): PromptPart[] {
  return typeof content === "string"
    ? [{ text: content, breakpoint: null }]
    : objectsIn(content).map(readPart);
}

/** The breakpoint is no part of the text: clients move it on with each turn, and the prefix stays the same. */
function readPart(block: JsonObject): PromptPart {
  const text =
    typeof block["text"] === "string" ? block["text"] : JSON.stringify(without(block, "cache_control"));
  return { text, breakpoint: readBreakpoint(block) };
}

function readBreakpoint(block: JsonObject): CacheLifetime | null {
  const control = block["cache_control"];
  if (!isObject(control)) return null;
  return control["ttl"] === "1h" ? "1h" : "5m";
}

function readPrompt(body: JsonObject, messages: readonly JsonObject[]): Prompt {
  const content = messages.findLast(({ role }) => role === "user")?.["content"];
  const results = objectsIn(content).filter(({ type }) => type === "tool_result");
  return {
    lastText: typedText(textsOf(content)),
    toolResult:
      results.length === 0 ? null : results.flatMap((result) => textsOf(result["content"])).join("\n"),
    tools: readTools(body["tools"]),
    wantsThought: wantsThought(body["thinking"]),
    schema: readSchema(body),
  };
}

/** Client tools alone carry a schema; server tools are not for the sandbox to call. */
function readTools(tools: unknown): Prompt["tools"] {
  return objectsIn(tools).flatMap(({ name, input_schema: schema }) =>
    typeof name === "string" && isObject(schema) ? [{ name, schema }] : [],
  );
}

function wantsThought(thinking: unknown): boolean {
  return isObject(thinking) && (thinking["type"] === "enabled" || thinking["type"] === "adaptive");
}

/** The JSON Schema of `output_config.format`, or of `output_format` as the API's beta had it. */
function readSchema(body: JsonObject): JsonObject | null {
  const config = body["output_config"];
  const format = (isObject(config) ? config["format"] : undefined) ?? body["output_format"];
  if (!isObject(format) || format["type"] !== "json_schema") return null;
  return isObject(format["schema"]) ? format["schema"] : null;
}
