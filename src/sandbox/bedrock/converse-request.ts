import { isObject, type JsonObject } from "../../core/json.ts";
import { asObject } from "../../core/usage/fields.ts";
import { ApiError } from "../errors.ts";
import { omit, pickObjects } from "../json.ts";

/** More than any completion of the sandbox has, for a request that says no limit. */
const DEFAULT_MAX_TOKENS = 4096;

/** Translates a request of Converse into the one of the Messages API that means the same. @throws ApiError 400 in AWS's words */
export function readConverseRequest(body: JsonObject, model: string): JsonObject {
  const messages = pickObjects(body["messages"]);
  if (messages.length === 0)
    throw new ApiError(400, "A conversation must start with a user message. Try again with one.");
  const { maxTokens } = asObject(body["inferenceConfig"]);
  const { thinking } = asObject(body["additionalModelRequestFields"]);
  return {
    model,
    max_tokens: typeof maxTokens === "number" ? maxTokens : DEFAULT_MAX_TOKENS,
    system: translateBlocks(body["system"]),
    messages: messages.map(({ role, content }) => ({ role, content: translateBlocks(content) })),
    tools: translateBlocks(asObject(body["toolConfig"])["tools"]),
    ...(isObject(thinking) && { thinking }),
  };
}

/** A `cachePoint` belongs to the block before it. */
function translateBlocks(blocks: unknown): JsonObject[] {
  const translated: JsonObject[] = [];
  for (const block of pickObjects(blocks)) {
    const { cachePoint } = block;
    const last = translated.at(-1);
    if (!isObject(cachePoint)) translated.push(translateBlock(block));
    else if (last !== undefined)
      last["cache_control"] = { type: "ephemeral", ttl: cachePoint["ttl"] ?? "5m" };
  }
  return translated;
}

function translateBlock(block: JsonObject): JsonObject {
  const { text, toolSpec, toolUse, toolResult } = block;
  if (typeof text === "string") return { type: "text", text };
  if (isObject(toolSpec)) {
    const { json: schema = {} } = asObject(toolSpec["inputSchema"]);
    return { ...omit(toolSpec, "inputSchema"), input_schema: schema };
  }
  if (isObject(toolUse)) return { type: "tool_use", ...omit(toolUse, "toolUseId"), id: toolUse["toolUseId"] };
  if (isObject(toolResult)) {
    const { toolUseId: id, content } = toolResult;
    const texts = pickObjects(content).map((part) => ({
      type: "text",
      text: typeof part["text"] === "string" ? part["text"] : JSON.stringify(part["json"] ?? part),
    }));
    return { type: "tool_result", tool_use_id: id, content: texts };
  }
  return block;
}
