import { isObject, type JsonObject } from "../../core/json.ts";
import { ApiError, missingParameter } from "../errors.ts";
import { findTypedText, type Prompt } from "../generation/completion.ts";
import { collectTexts, pickObjects, stringOrNull, textOrJson } from "../json.ts";

/** As in OpenAI's documentation, "Chat Completions". */
const MAX_CHOICES = 128;

/** What the requests of Chat Completions and Completions have in common. */
interface ChoiceRequest {
  model: string;
  /** Number of choices, all of them with the same content. */
  n: number;
  stream: boolean;
  /** Whether the client asks for usage in a stream. */
  includeUsage: boolean;
}

/** The members of a Chat Completions request that the sandbox evaluates. */
interface ChatRequest extends ChoiceRequest {
  /** The parts of the prompt in the order of the prompt cache: tools, messages. */
  parts: string[];
  prompt: Prompt;
  /** Of each choice. Infinity when the client sets none. */
  maxTokens: number;
  promptCacheKey: string | null;
}

/** Reads the body of `POST /chat/completions`. @throws ApiError 400 naming the invalid field */
export function readChatRequest(body: JsonObject): ChatRequest {
  const choices = readChoices(body);
  const messages = readMessages(body["messages"]);
  return {
    ...choices,
    parts: [...pickObjects(body["tools"]).map((tool) => JSON.stringify(tool)), ...messages.map(textOrJson)],
    prompt: readPrompt(body, messages),
    maxTokens: readCount(body, "max_completion_tokens") ?? readCount(body, "max_tokens") ?? Infinity,
    promptCacheKey: stringOrNull(body["prompt_cache_key"]),
  };
}

/** Reads what Chat Completions and Completions have in common. @throws ApiError 400 naming the invalid field */
export function readChoices(body: JsonObject): ChoiceRequest {
  const { model, stream_options: options } = body;
  if (typeof model !== "string") throw missingParameter("model");
  return {
    model,
    n: readCount(body, "n", MAX_CHOICES) ?? 1,
    stream: body["stream"] === true,
    includeUsage: isObject(options) && options["include_usage"] === true,
  };
}

/**
 * Reads a number of tokens, choices or dimensions; undefined when it is not set.
 * @throws ApiError 400 unless it is an integer from 1 to `most`
 */
export function readCount(body: JsonObject, param: string, most = Infinity): number | undefined {
  const count = body[param] ?? undefined;
  if (count === undefined) return undefined;
  if (typeof count === "number" && Number.isInteger(count) && count > 0 && count <= most) return count;
  const message = `Invalid '${param}': expected a positive integer${most === Infinity ? "" : ` up to ${most}`}.`;
  throw new ApiError(400, message, { code: "invalid_value", param });
}

function readMessages(value: unknown): JsonObject[] {
  if (!Array.isArray(value)) throw missingParameter("messages");
  const messages = pickObjects(value);
  if (messages.length > 0) return messages;
  const message = "Invalid 'messages': empty array. Expected an array with minimum length 1.";
  throw new ApiError(400, message, { code: "empty_array", param: "messages" });
}

function readPrompt(body: JsonObject, messages: readonly JsonObject[]): Prompt {
  const users = messages.filter(({ role }) => role === "user");
  const last = messages.findLast(({ role }) => role === "user" || role === "tool");
  const isResult = last?.["role"] === "tool";
  return {
    lastText: findTypedText(users.flatMap((message) => collectTexts(message["content"]))),
    toolResult: isResult ? collectTexts(last["content"]).join("\n") : null,
    tools: readTools(body["tools"]),
    wantsReasoning: readWantsReasoning(body),
    schema: readSchema(body["response_format"]),
  };
}

function readTools(tools: unknown): Prompt["tools"] {
  return pickObjects(tools).flatMap(({ function: definition }) => {
    if (!isObject(definition) || typeof definition["name"] !== "string") return [];
    const { name, parameters } = definition;
    return [{ name, schema: isObject(parameters) ? parameters : {} }];
  });
}

/** OpenAI's member is `reasoning_effort`; OpenRouter's is `reasoning`, an object. */
function readWantsReasoning({ reasoning_effort: effort, reasoning }: JsonObject): boolean {
  if (isObject(reasoning)) return reasoning["effort"] !== "none" && reasoning["enabled"] !== false;
  return typeof effort === "string" && effort !== "none";
}

function readSchema(format: unknown): JsonObject | null {
  if (!isObject(format)) return null;
  if (format["type"] === "json_object") return { type: "object" };
  const definition = format["json_schema"];
  return isObject(definition) && isObject(definition["schema"]) ? definition["schema"] : null;
}
