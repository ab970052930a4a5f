import type { JsonObject } from "../json.ts";
import { asCount, asObject, asWord } from "../usage/fields.ts";
import type { Selection } from "../usage/json/json-scanner.ts";
import type { CacheMiss } from "../usage/reading.ts";

// What services say of their caches where a client has asked for it (docs/wire.md section 5). tollkeeper never asks.

/** A miss for which the service has given the reason. */
export type SaidMiss = { [Name in keyof CacheMiss]: NonNullable<CacheMiss[Name]> };

const WORD_BYTES = 256;
const COUNT_BYTES = 32;

/** What is read of `diagnostics` in the Messages API. */
export const MESSAGES_DIAGNOSTICS: Selection = {
  cache_miss_reason: { type: WORD_BYTES, cache_missed_input_tokens: COUNT_BYTES },
};

/** What is read of `prompt_cache_diagnostics` in the Responses API. */
export const RESPONSES_DIAGNOSTICS: Selection = {
  type: WORD_BYTES,
  reason: WORD_BYTES,
  cache_missed_tokens: COUNT_BYTES,
};

/** Returns the reason that Anthropic gives; null where it gives none, does not know it, or does not know it yet. */
export function readMessagesDiagnostics(diagnostics: JsonObject): SaidMiss | null {
  const reason = asObject(diagnostics["cache_miss_reason"]);
  return toMiss(reason["type"], reason["cache_missed_input_tokens"]);
}

/** Returns the reason that OpenAI gives; null where it gives none, or does not know it. */
export function readResponsesDiagnostics(diagnostics: JsonObject): SaidMiss | null {
  return diagnostics["type"] === "cache_miss"
    ? toMiss(diagnostics["reason"], diagnostics["cache_missed_tokens"])
    : null;
}

/** What a service cannot tell, such as `unavailable`, has no count. */
function toMiss(word: unknown, count: unknown): SaidMiss | null {
  const [miss, tokens] = [asWord(word), asCount(count)];
  return miss === null || tokens === null ? null : { miss, miss_by: "said", miss_tokens: tokens };
}
