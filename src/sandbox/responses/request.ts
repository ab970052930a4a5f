import { isObject, type JsonObject } from "../../core/json.ts";
import { findTypedText, type Prompt } from "../generation/completion.ts";
import { ApiError, missingParameter } from "../errors.ts";
import { collectTexts, pickObjects, stringOrNull, textOrJson } from "../json.ts";

/** The members of a Responses request that the sandbox evaluates. */
export interface ResponsesRequest {
  model: string;
  /** The parts of the prompt in the order of the prompt cache: instructions, tools, input items. */
  parts: string[];
  prompt: Prompt;
  /** The input as a list of items. */
  items: JsonObject[];
  /** Infinity when the client sets none. */
  maxOutputTokens: number;
  stream: boolean;
  background: boolean;
  store: boolean;
  promptCacheKey: string | null;
  previousResponseId: string | null;
  /** The forms of the reasoning that the client asks for. */
  reasoning: { summary: boolean; encrypted: boolean };
}

/** Reads the body of `POST /responses`. @throws ApiError 400 naming the invalid field */
export function readResponsesRequest(body: JsonObject): ResponsesRequest {
  const { model, input } = body;
  if (typeof model !== "string") throw missingParameter("model");
  if (typeof input !== "string" && !Array.isArray(input)) throw missingParameter("input");
  const items = typeof input === "string" ? [{ role: "user", content: input }] : pickObjects(input);
  return {
    model,
    parts: readParts(body, items),
    prompt: readPrompt(body, items),
    items,
    maxOutputTokens: readMaxOutputTokens(body["max_output_tokens"]),
    stream: body["stream"] === true,
    background: body["background"] === true,
    store: body["store"] !== false,
    promptCacheKey: stringOrNull(body["prompt_cache_key"]),
    previousResponseId: stringOrNull(body["previous_response_id"]),
    reasoning: {
      summary: isObject(body["reasoning"]) && typeof body["reasoning"]["summary"] === "string",
      encrypted: Array.isArray(body["include"]) && body["include"].includes("reasoning.encrypted_content"),
    },
  };
}

function readMaxOutputTokens(limit: unknown): number {
  if (limit === undefined || limit === null) return Infinity;
  if (typeof limit === "number" && Number.isInteger(limit) && limit > 0) return limit;
  const message = "Invalid 'max_output_tokens': expected a positive integer.";
  throw new ApiError(400, message, { code: "invalid_value", param: "max_output_tokens" });
}

function readParts(body: JsonObject, items: readonly JsonObject[]): string[] {
  const instructions = stringOrNull(body["instructions"]);
  return [
    ...(instructions === null ? [] : [instructions]),
    ...pickObjects(body["tools"]).map((tool) => JSON.stringify(tool)),
    ...items.map(textOrJson),
  ];
}

function readPrompt(body: JsonObject, items: readonly JsonObject[]): Prompt {
  const users = items.filter(({ role }) => role === "user");
  const last = items.findLast(({ role, type }) => role === "user" || type === "function_call_output");
  const output = last?.["type"] === "function_call_output" ? last["output"] : undefined;
  return {
    lastText: findTypedText(users.flatMap((item) => collectTexts(item["content"]))),
    toolResult: output === undefined ? null : collectTexts(output).join("\n"),
    tools: readTools(body["tools"]),
    wantsReasoning: isObject(body["reasoning"]) && body["reasoning"]["effort"] !== "none",
    schema: readSchema(body["text"]),
  };
}

function readTools(tools: unknown): Prompt["tools"] {
  return pickObjects(tools).flatMap(({ type, name, parameters }) =>
    type === "function" && typeof name === "string"
      ? [{ name, schema: isObject(parameters) ? parameters : {} }]
      : [],
  );
}

function readSchema(text: unknown): JsonObject | null {
  const format = isObject(text) ? text["format"] : undefined;
  if (!isObject(format)) return null;
  if (format["type"] === "json_object") return { type: "object" };
  return format["type"] === "json_schema" && isObject(format["schema"]) ? format["schema"] : null;
}
