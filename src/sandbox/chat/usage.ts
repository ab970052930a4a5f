import type { JsonObject } from "../../core/json.ts";
import type { Switches } from "../switches.ts";
import type { BilledTokens } from "../tally.ts";

/** The usage of a chat completion, as OpenAI writes it. */
export type ChatUsage = ReturnType<typeof composeUsage>;

/** Returns billed tokens as usage. All tokens are in the total, even reasoning that is outside of the output. */
export function composeUsage(billed: BilledTokens, { reasoningOutside }: Readonly<Switches>) {
  const input = billed.input_uncached + billed.cache_read + billed.cache_write;
  return {
    prompt_tokens: input,
    completion_tokens: reasoningOutside ? billed.output - billed.reasoning : billed.output,
    total_tokens: input + billed.output,
    prompt_tokens_details: { cached_tokens: billed.cache_read, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: billed.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** Returns billed tokens as llama.cpp's server counts them, with invented times. */
export function composeTimings(billed: BilledTokens): JsonObject {
  return {
    cache_n: billed.cache_read,
    prompt_n: billed.input_uncached + billed.cache_write,
    prompt_ms: 1,
    predicted_n: billed.output,
    predicted_ms: 1,
  };
}

/** Returns a finished JSON response with its usage, which precedes the members of `rest`. */
export function attachUsage(
  response: JsonObject,
  billed: BilledTokens,
  switches: Readonly<Switches>,
  rest: JsonObject,
): JsonObject {
  if (switches.noUsage) return { ...response, ...rest };
  if (switches.usage === "timings") return { ...response, ...rest, timings: composeTimings(billed) };
  return { ...response, usage: composeUsage(billed, switches), ...rest };
}
