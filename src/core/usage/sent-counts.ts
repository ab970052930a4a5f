import { isObject, type JsonObject } from "../json.ts";
import { asCount, asObject } from "./fields.ts";
import { sumLifetimes, type CacheLifetimes } from "./tokens.ts";

/** The APIs whose usage has an input that includes the cache. They differ in the names. */
export type InclusiveApi = "chat" | "responses";

/** Whose names a usage object has. `words`: none that we know, but they say what they are. */
type Names = InclusiveApi | "words";

/** The counts of a usage object as they were sent; null where it does not say. */
export interface SentCounts {
  names: Names;
  input: number | null;
  output: number | null;
  total: number | null;
  reasoning: number | null;
  /** Audio in the input. */
  audio: number | null;
  /** What the input is by its kinds, added up: text, audio and pictures. */
  kinds: number | null;
  read: number | null;
  write: number | null;
  lifetimes: CacheLifetimes | null;
  /** True for cache counts under the names of the Messages API, whose input excludes them. */
  hasMessagesCache: boolean;
}

const OTHER = { chat: "responses", responses: "chat" } as const;

/**
 * Reads the counts of a usage object under the names of an API, or under those that it has instead (docs/wire.md section 9). Some
 * gateways send the names of both, one of them with zeros (QuantumNous/new-api): those that count something are read.
 */
export function readSentCounts(usage: JsonObject, own: InclusiveApi): SentCounts {
  const isOwn = hasNames(usage, own);
  const hasOther = hasNames(usage, OTHER[own]);
  if (!isOwn && !hasOther) return readWords(usage) ?? readNamed(usage, own);
  const isOther = !isOwn || (hasOther && !countsSomething(usage, own) && countsSomething(usage, OTHER[own]));
  return readNamed(usage, isOther ? OTHER[own] : own);
}

/** True when a usage object counts something. Some services send zeros until the counts are known. */
export function hasCounts(usage: JsonObject, own: InclusiveApi): boolean {
  const { input, output, total } = readSentCounts(usage, own);
  return (input ?? 0) + (output ?? 0) + (total ?? 0) > 0;
}

/** True when a usage object has input or output under the names of an API. */
function hasNames(usage: JsonObject, api: InclusiveApi): boolean {
  return inputOf(usage, api) !== null || outputOf(usage, api) !== null;
}

function countsSomething(usage: JsonObject, api: InclusiveApi): boolean {
  return (inputOf(usage, api) ?? 0) + (outputOf(usage, api) ?? 0) > 0;
}

function inputOf(usage: JsonObject, api: InclusiveApi): number | null {
  if (api === "responses") return asCount(usage["input_tokens"]);
  const hit = asCount(usage["prompt_cache_hit_tokens"]);
  const miss = asCount(usage["prompt_cache_miss_tokens"]);
  return asCount(usage["prompt_tokens"]) ?? (hit !== null && miss !== null ? hit + miss : null);
}

function outputOf(usage: JsonObject, api: InclusiveApi): number | null {
  return asCount(usage[api === "chat" ? "completion_tokens" : "output_tokens"]);
}

function readNamed(usage: JsonObject, names: InclusiveApi): SentCounts {
  const details = detailsOf(usage, names, "prompt_tokens_details", "input_tokens_details");
  const ofOutput = detailsOf(usage, names, "completion_tokens_details", "output_tokens_details");
  const lifetimes = readLifetimes(details);
  const messagesRead = asCount(usage["cache_read_input_tokens"]);
  const messagesWrite = asCount(usage["cache_creation_input_tokens"]);
  return {
    names,
    input: inputOf(usage, names),
    output: outputOf(usage, names),
    total: asCount(usage["total_tokens"]),
    reasoning: asCount(ofOutput["reasoning_tokens"]),
    audio: asCount(details["audio_tokens"]),
    kinds: sumKinds(details),
    read:
      asCount(details["cached_tokens"]) ??
      asCount(usage["prompt_cache_hit_tokens"]) ??
      asCount(usage["cached_tokens"]) ??
      asCount(usage["num_cached_tokens"]) ??
      asCount(usage["cache_read_tokens"]) ??
      messagesRead,
    write:
      asCount(details["cache_write_tokens"]) ??
      asCount(details["cache_creation_input_tokens"]) ??
      messagesWrite ??
      (lifetimes === null ? null : sumLifetimes(lifetimes)),
    lifetimes,
    hasMessagesCache: messagesRead !== null || messagesWrite !== null,
  };
}

function sumKinds(details: JsonObject): number | null {
  const text = asCount(details["text_tokens"]);
  if (text === null) return null;
  return text + (asCount(details["audio_tokens"]) ?? 0) + (asCount(details["image_tokens"]) ?? 0);
}

/** Returns the details under the API's own name, else under the other's. */
function detailsOf(usage: JsonObject, names: InclusiveApi, ofChat: string, ofResponses: string): JsonObject {
  const [own, other] = names === "chat" ? [ofChat, ofResponses] : [ofResponses, ofChat];
  return asObject(isObject(usage[own]) ? usage[own] : usage[other]);
}

/** Reads the cache writes by lifetime: DashScope's names, else those of the Responses API. */
function readLifetimes(details: JsonObject): CacheLifetimes | null {
  const split = asObject(details["cache_creation"]);
  const m5 = asCount(split["ephemeral_5m_input_tokens"]);
  const h1 = asCount(split["ephemeral_1h_input_tokens"]);
  if (m5 !== null || h1 !== null) return { m5: m5 ?? 0, h1: h1 ?? 0 };
  const later = asObject(details["cache_write_tokens_details"]);
  const m30 = asCount(later["ttl_30m_tokens"]);
  const h12 = asCount(later["ttl_12h_tokens"]);
  return m30 === null && h12 === null ? null : { m30: m30 ?? 0, h12: h12 ?? 0 };
}

/** Words of a name that do not say what it counts. */
const FILLERS = new Set(["n", "num", "number", "of", "token", "tokens", "count", "counts", "usage"]);

/** What a name counts, by its other words in alphabetical order. */
const MEANINGS: ReadonlyMap<string, keyof SentCounts> = new Map([
  ["input", "input"],
  ["prompt", "input"],
  ["eval prompt", "input"],
  ["input total", "input"],
  ["prompt total", "input"],
  ["output", "output"],
  ["completion", "output"],
  ["candidates", "output"],
  ["eval", "output"],
  ["generated", "output"],
  ["output total", "output"],
  ["completion total", "output"],
  ["total", "total"],
  ["reasoning", "reasoning"],
  ["thinking", "reasoning"],
  ["thoughts", "reasoning"],
  ["cached", "read"],
  ["cached input", "read"],
  ["cached content", "read"],
  ["cached prompt", "read"],
  ["cache read", "read"],
  ["cache input read", "read"],
  ["cache write", "write"],
  ["cache input write", "write"],
  ["cache creation", "write"],
  ["cache creation input", "write"],
] as const);

/**
 * Reads counts whose names say what they are: `promptTokenCount` of Gemini, `inputTokens` of Amazon Bedrock, `prompt_eval_count` of
 * Ollama. Returns null without input and output. The total, where there is one, decides what they include, as always.
 */
function readWords(usage: JsonObject): SentCounts | null {
  const found: Partial<Record<keyof SentCounts, number>> = {};
  for (const name in usage) {
    const count = asCount(usage[name]);
    const meaning = count === null ? undefined : MEANINGS.get(meaningfulWords(name));
    if (count !== null && meaning !== undefined) found[meaning] ??= count;
  }
  const { input = null, output = null, total = null, reasoning = null, read = null, write = null } = found;
  if (input === null && output === null) return null;
  const missing = { audio: null, kinds: null, lifetimes: null, hasMessagesCache: false };
  return { names: "words", input, output, total, reasoning, read, write, ...missing };
}

/** Turns `promptTokenCount` and `num_prompt_tokens` into `prompt`. */
function meaningfulWords(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split("_");
  return words
    .filter((word) => !FILLERS.has(word))
    .toSorted()
    .join(" ");
}
