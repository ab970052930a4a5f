import type { JsonObject } from "../../json.ts";
import { asCount, asObject } from "../fields.ts";
import type { Flag } from "../reading.ts";
import { sumLifetimes, type CacheLifetimes, type UsageCounts } from "../tokens.ts";

const COUNTS = ["prompt_tokens", "completion_tokens", "total_tokens"];

/** The counts of a usage object as they were sent; null where it does not say. */
interface SentCounts {
  prompt: number | null;
  completion: number | null;
  total: number | null;
  reasoning: number | null;
  /** Audio in the prompt. */
  audio: number | null;
  read: number | null;
  write: number | null;
  lifetimes: CacheLifetimes | null;
}

/**
 * Reads the usage object of a chat completion, of a completion or of embeddings. The prompt includes cache reads and writes, the
 * completion reasoning; where a service counts otherwise, only its total proves it (docs/wire.md section 7).
 */
export function readChatCounts(usage: JsonObject, flags: Set<Flag>): UsageCounts {
  const sent = readSentCounts(usage);
  const { total, reasoning } = sent;
  const [prompt, completion] = fillIn(sent);
  const counts: UsageCounts = {
    uncached: prompt,
    read: sent.read,
    write: sent.write,
    lifetimes: sent.lifetimes,
    output: completion,
    reasoning,
  };
  if (prompt !== null && completion !== null && total !== null) reconcile(counts, total, sent.audio, flags);
  if (reasoning !== null && counts.output !== null && reasoning > counts.output) {
    counts.reasoning = null;
    flags.add("reasoning_exceeds_output");
  }
  if (!flags.has("cache_outside_prompt")) subtractCache(counts, total !== null, flags);
  return counts;
}

/**
 * Reads the timings that llama.cpp sends unasked (ggml-org/llama.cpp#15827): exact, if they say what came from the cache. Returns
 * null when they have no counts.
 */
export function readTimings(timings: JsonObject, flags: Set<Flag>): UsageCounts | null {
  const uncached = asCount(timings["prompt_n"]);
  const output = asCount(timings["predicted_n"]);
  if (uncached === null && output === null) return null;
  flags.add("usage_from_timings");
  return {
    uncached,
    read: asCount(timings["cache_n"]),
    write: null,
    lifetimes: null,
    output,
    reasoning: null,
  };
}

/** True when a usage object counts something. Some services send zeros until the counts are known. */
export function hasCounts(usage: JsonObject | null): boolean {
  return usage !== null && COUNTS.some((name) => (asCount(usage[name]) ?? 0) > 0);
}

function readSentCounts(usage: JsonObject): SentCounts {
  const details = asObject(usage["prompt_tokens_details"]);
  const hit = asCount(usage["prompt_cache_hit_tokens"]);
  const miss = asCount(usage["prompt_cache_miss_tokens"]);
  const lifetimes = readLifetimes(details);
  return {
    prompt: asCount(usage["prompt_tokens"]) ?? (hit !== null && miss !== null ? hit + miss : null),
    completion: asCount(usage["completion_tokens"]),
    total: asCount(usage["total_tokens"]),
    reasoning: asCount(asObject(usage["completion_tokens_details"])["reasoning_tokens"]),
    audio: asCount(details["audio_tokens"]),
    read:
      asCount(details["cached_tokens"]) ??
      hit ??
      asCount(usage["cached_tokens"]) ??
      asCount(usage["num_cached_tokens"]) ??
      asCount(usage["cache_read_input_tokens"]),
    write:
      asCount(details["cache_write_tokens"]) ??
      asCount(details["cache_creation_input_tokens"]) ??
      asCount(usage["cache_creation_input_tokens"]) ??
      (lifetimes === null ? null : sumLifetimes(lifetimes)),
    lifetimes,
  };
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

/** Returns prompt and completion. One that is missing follows from the total; a total alone is all input, as of embeddings. */
function fillIn({
  prompt,
  completion,
  total,
}: SentCounts): [prompt: number | null, completion: number | null] {
  if (total === null) return [prompt, completion];
  if (prompt === null && completion === null) return [total, null];
  if (prompt === null) return [difference(total, completion ?? 0), completion];
  return [prompt, completion ?? difference(total, prompt)];
}

function difference(total: number, part: number): number | null {
  return total >= part ? total - part : null;
}

/** Where the total exceeds the sum, it is right and a part is wrong. */
function reconcile(counts: UsageCounts, total: number, audio: number | null, flags: Set<Flag>): void {
  const prompt = counts.uncached ?? 0;
  const output = counts.output ?? 0;
  const missing = total - prompt - output;
  if (missing === 0) return;
  if (missing < 0) flags.add("total_mismatch");
  else if (missing === counts.reasoning) {
    counts.output = output + missing;
    flags.add("reasoning_outside_output");
  } else if (missing === audio) {
    counts.uncached = prompt + missing;
    flags.add("prompt_excludes_audio");
  } else if (missing === (counts.read ?? 0) + (counts.write ?? 0)) flags.add("cache_outside_prompt");
  else {
    counts.output = output + missing;
    flags.add("total_exceeds_sum");
  }
}

/** Takes the cache out of the prompt. With a total, the prompt is right and a cache that does not fit in it is wrong. */
function subtractCache(counts: UsageCounts, hasTotal: boolean, flags: Set<Flag>): void {
  const prompt = counts.uncached;
  if (prompt === null) return;
  if (!hasTotal && (counts.read ?? 0) + (counts.write ?? 0) > prompt) {
    flags.add("negative_uncached");
    return;
  }
  if ((counts.read ?? 0) > prompt) {
    counts.read = 0;
    flags.add("cached_exceeds_prompt");
  }
  if ((counts.write ?? 0) > prompt) {
    dropWrite(counts);
    flags.add("cached_exceeds_prompt");
  }
  if ((counts.read ?? 0) + (counts.write ?? 0) > prompt) {
    dropWrite(counts);
    flags.add("cache_read_write_overlap");
  }
  counts.uncached = prompt - (counts.read ?? 0) - (counts.write ?? 0);
}

function dropWrite(counts: UsageCounts): void {
  counts.write = 0;
  counts.lifetimes = null;
}
