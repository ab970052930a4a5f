import { readBedrockPath } from "../../core/http/bedrock/model-path.ts";
import { isObject, parseJson, type JsonObject } from "../../core/json.ts";
import { asObject } from "../../core/usage/fields.ts";
import type { ApiRequest, ApiResponse, RouteState } from "../api.ts";
import { readConverseRequest } from "./converse-request.ts";
import { composeConverse, composeUsage, converseEvents } from "./converse-response.ts";
import { chunkFrame, eventFrame, exceptionFrame, FRAMES_TYPE } from "./frames.ts";
import { ApiError } from "../errors.ts";
import { composeCompletion, countOutputTokens } from "../generation/completion.ts";
import { billTokens } from "../messages.ts";
import { messageEvents } from "../messages/events.ts";
import { billInput, countInput, type BilledInput } from "../messages/input.ts";
import { composeMessage, type Message } from "../messages/message.ts";
import { readMaxTokens, readMessagesRequest } from "../messages/request.ts";
import { requireModel } from "../models.ts";
import type { BilledTokens } from "../tally.ts";

// Amazon Bedrock (docs/wire.md section 14). A request of Converse is translated into one of the Messages API, and its message back.

/** What a model has said, and what that costs. */
interface Said {
  message: Message;
  input: BilledInput;
  output: number;
  billed: BilledTokens;
}

/** `converse` and `converse-stream`. */
export function converse(call: ApiRequest, state: RouteState): ApiResponse {
  const model = modelIn(call);
  const { message, input, output, billed } = complete(readConverseRequest(call.body, model), call, state);
  const usage = call.switches.noUsage ? null : composeUsage(input, output);
  if (!call.path.endsWith("-stream")) return { body: composeConverse(message, usage), billed };
  const frames = converseEvents(message, usage).map(([type, payload]) => eventFrame(type, payload));
  return composeStream(call, frames, billed);
}

/** `invoke` and `invoke-with-response-stream`: Claude takes what the Messages API does, and the others here what Nova does. */
export function invoke(call: ApiRequest, state: RouteState): ApiResponse {
  const model = modelIn(call);
  const isClaude = model.includes("anthropic.");
  if (isClaude && typeof call.body["anthropic_version"] !== "string")
    throw new ApiError(400, "anthropic_version: Field required");
  const body = isClaude ? { ...call.body, model } : readConverseRequest(call.body, model);
  const said = complete(body, call, state);
  const { message, input, output, billed } = said;
  const hasUsage = !call.switches.noUsage;
  if (!call.path.endsWith("-stream")) {
    const whole = isClaude
      ? { ...message }
      : composeConverse(message, hasUsage ? composeUsage(input, output) : null);
    return { body: whole, billed, ...(hasUsage && { headers: countHeaders(said) }) };
  }
  const events = isClaude
    ? messageEvents(message)
    : converseEvents(message, null).map(([type, payload]): JsonObject => ({ [type]: payload }));
  const last = events.at(-1) ?? {};
  const metrics = hasUsage ? { "amazon-bedrock-invocationMetrics": composeMetrics(said) } : {};
  const all: JsonObject[] = [...events.slice(0, -1), { ...last, ...metrics }];
  return composeStream(call, all.map(chunkFrame), billed);
}

/** `count-tokens`: of a request of Converse, or of what a model would be invoked with, as base64. */
export function countBedrockTokens(call: ApiRequest): ApiResponse {
  const model = modelIn(call);
  const { converse: asked, invokeModel } = asObject(call.body["input"]);
  const body = isObject(asked) ? readConverseRequest(asked, model) : { ...decode(invokeModel), model };
  return { body: { inputTokens: countInput(readMessagesRequest(body).parts) } };
}

function decode(invokeModel: unknown): JsonObject {
  const { body } = asObject(invokeModel);
  const decoded = parseJson(Buffer.from(String(body), "base64").toString());
  if (!isObject(decoded)) throw new ApiError(400, "The body of invokeModel is not JSON in base64.");
  return decoded;
}

/** Returns the model that the path names. @throws ApiError 400 for one that the sandbox does not have */
function modelIn(call: ApiRequest): string {
  const model = readBedrockPath(call.path)?.model ?? "";
  requireModel(call, model);
  return model;
}

function complete(body: JsonObject, { key, switches }: ApiRequest, { promptCache }: RouteState): Said {
  const { model, parts, prompt } = readMessagesRequest(body);
  const limit = readMaxTokens(body);
  const input = billInput(parts, [key.secret, model], promptCache);
  const completion = composeCompletion(prompt, limit, switches);
  const { usage, ...rest } = composeMessage(shortName(model), completion, input);
  const message: Message = switches.noUsage ? rest : { ...rest, usage };
  return { message, input, output: countOutputTokens(completion), billed: billTokens(input, completion) };
}

/** Claude's responses name the model as Anthropic does: `claude-sonnet-4-5-20250929`. */
function shortName(model: string): string {
  return model.replace(/^.*anthropic\./, "").replace(/-v\d+(?::\d+)?$/, "");
}

function composeMetrics({ input, output }: Said): JsonObject {
  return {
    inputTokenCount: input.uncached,
    outputTokenCount: output,
    invocationLatency: 1,
    firstByteLatency: 1,
    cacheReadInputTokenCount: input.read,
    cacheWriteInputTokenCount: input.written["5m"] + input.written["1h"],
  };
}

function countHeaders({ input, output }: Said): Record<string, string> {
  const written = input.written["5m"] + input.written["1h"];
  return {
    "x-amzn-bedrock-input-token-count": String(input.uncached),
    "x-amzn-bedrock-output-token-count": String(output),
    "x-amzn-bedrock-cache-read-input-token-count": String(input.read),
    "x-amzn-bedrock-cache-write-input-token-count": String(written),
  };
}

/** A stream that fails is not billed. */
function composeStream(
  { switches }: ApiRequest,
  frames: readonly Buffer[],
  billed: BilledTokens,
): ApiResponse {
  if (!switches.errorEvent) return { frames, type: FRAMES_TYPE, billed };
  const failed = exceptionFrame("modelStreamErrorException", "The sandbox was asked to fail.");
  return { frames: [...frames.slice(0, 2), failed], type: FRAMES_TYPE };
}
