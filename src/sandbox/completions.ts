import type { JsonObject } from "../core/json.ts";
import type { ApiRequest, ApiResponse } from "./api.ts";
import { readChoices, readCount } from "./chat/request.ts";
import { interleave, writeStream } from "./chat/stream.ts";
import { attachUsage } from "./chat/usage.ts";
import {
  composeCompletion,
  countOutputTokens,
  findTypedText,
  type Completion,
} from "./generation/completion.ts";
import { splitIntoChunks } from "./generation/tokens.ts";
import { makeId } from "./ids.ts";
import { requireModel } from "./models.ts";
import type { BilledTokens } from "./tally.ts";
import { readTexts, type TextInput } from "./text-input.ts";

/** Of each choice, unless the request sets another (OpenAI's documentation, "Completions"). */
const DEFAULT_MAX_TOKENS = 16;

/** `POST /completions`: continues each prompt `n` times, as JSON or as a stream. */
export function createCompletion(call: ApiRequest): ApiResponse {
  const { body, switches } = call;
  const request = readChoices(body);
  const prompts = readTexts(body, "prompt");
  const limit = readCount(body, "max_tokens") ?? DEFAULT_MAX_TOKENS;
  requireModel(call, request.model);
  const completions = prompts.flatMap(({ text }) =>
    Array.from({ length: request.n }, () => composeCompletion(promptFor(text), limit, switches)),
  );
  const billed = billCompletions(prompts, completions);
  const id = makeId("cmpl", "-");
  const head = {
    id,
    object: "text_completion",
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
  if (!request.stream)
    return {
      body: attachUsage({ ...head, choices: completions.map(composeChoice) }, billed, switches, {}),
      billed,
    };
  const chunks = interleave(completions.map(splitChoice)).map((choice) => ({ ...head, choices: [choice] }));
  const stream = { chunks, billed, isAsked: request.includeUsage };
  return { events: writeStream(stream, switches), ...(!switches.errorEvent && { billed }) };
}

function promptFor(text: string): Parameters<typeof composeCompletion>[0] {
  const lastText = findTypedText([text]);
  return { lastText, toolResult: null, tools: [], wantsReasoning: false, schema: null };
}

function billCompletions(prompts: readonly TextInput[], completions: readonly Completion[]): BilledTokens {
  return {
    input_uncached: prompts.reduce((sum, { tokens }) => sum + tokens, 0),
    cache_read: 0,
    cache_write: 0,
    output: completions.reduce((sum, completion) => sum + countOutputTokens(completion), 0),
    reasoning: 0,
  };
}

function composeChoice({ text, stop }: Completion, index: number): JsonObject {
  return { text: text ?? "", index, logprobs: null, finish_reason: finishReasonOf(stop) };
}

/** Returns the pieces of a choice. The last one has the finish reason and no text. */
function splitChoice({ text, stop }: Completion, index: number): JsonObject[] {
  return [
    ...splitIntoChunks(text ?? "").map((piece) => ({
      text: piece,
      index,
      logprobs: null,
      finish_reason: null,
    })),
    { text: "", index, logprobs: null, finish_reason: finishReasonOf(stop) },
  ];
}

function finishReasonOf(stop: Completion["stop"]): string {
  if (stop === "refused") return "content_filter";
  return stop === "limit" ? "length" : "stop";
}
