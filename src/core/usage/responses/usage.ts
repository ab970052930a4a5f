import type { JsonObject } from "../../json.ts";
import { asCount, asObject } from "../fields.ts";
import type { Flag } from "../reading.ts";
import type { UsageCounts, CacheLifetimes } from "../tokens.ts";

/** Member names of a usage object whose input includes cache reads and writes. */
type UsageNames = typeof RESPONSES | typeof CHAT;

const RESPONSES = {
  input: "input_tokens",
  inputDetails: "input_tokens_details",
  output: "output_tokens",
  outputDetails: "output_tokens_details",
} as const;

const CHAT = {
  input: "prompt_tokens",
  inputDetails: "prompt_tokens_details",
  output: "completion_tokens",
  outputDetails: "completion_tokens_details",
} as const;

/** Reads a Responses usage object (docs/wire.md section 6): input includes the cache, output includes reasoning. */
export function readResponsesUsage(usage: JsonObject, flags: Set<Flag>): UsageCounts {
  if (asCount(usage[RESPONSES.input]) === null && hasChatNames(usage)) return readChatUsage(usage, flags);
  return readInclusive(usage, RESPONSES, flags);
}

/** True when the object has the names of chat completions, which some gateways use on every route. */
export function hasChatNames(usage: JsonObject): boolean {
  return chatInput(usage) !== null || asCount(usage[CHAT.output]) !== null;
}

/** Reads a usage object with the names of chat completions or of DeepSeek, and flags it. */
export function readChatUsage(usage: JsonObject, flags: Set<Flag>): UsageCounts {
  flags.add("openai_names");
  return readInclusive({ ...usage, [CHAT.input]: chatInput(usage) }, CHAT, flags);
}

/** DeepSeek may report cache hits and misses instead of their sum (docs/wire.md section 9). */
function chatInput(usage: JsonObject): number | null {
  const hit = asCount(usage["prompt_cache_hit_tokens"]);
  const miss = asCount(usage["prompt_cache_miss_tokens"]);
  return asCount(usage[CHAT.input]) ?? (hit !== null && miss !== null ? hit + miss : null);
}

function readInclusive(usage: JsonObject, names: UsageNames, flags: Set<Flag>): UsageCounts {
  const details = asObject(usage[names.inputDetails]);
  const read =
    asCount(details["cached_tokens"]) ??
    asCount(usage["prompt_cache_hit_tokens"]) ??
    asCount(usage["cached_tokens"]);
  const write = asCount(details["cache_write_tokens"]);
  const input = asCount(usage[names.input]);
  const counts: UsageCounts = {
    uncached: input === null ? null : subtractCache(input, (read ?? 0) + (write ?? 0), flags),
    read,
    write,
    lifetimes: readLifetimes(asObject(details["cache_write_tokens_details"])),
    output: asCount(usage[names.output]),
    reasoning: asCount(asObject(usage[names.outputDetails])["reasoning_tokens"]),
  };
  checkTotal(asCount(usage["total_tokens"]), counts, flags);
  return counts;
}

/** Subtracts the cache from the input. Less input than cache proves that this service does not include it. */
function subtractCache(input: number, cached: number, flags: Set<Flag>): number {
  if (input >= cached) return input - cached;
  flags.add("negative_uncached");
  return input;
}

function readLifetimes(details: JsonObject): CacheLifetimes | null {
  const m30 = asCount(details["ttl_30m_tokens"]);
  const h12 = asCount(details["ttl_12h_tokens"]);
  return m30 === null && h12 === null ? null : { m30: m30 ?? 0, h12: h12 ?? 0 };
}

function checkTotal(total: number | null, counts: UsageCounts, flags: Set<Flag>): void {
  const { uncached, read, write, output } = counts;
  if (total === null || uncached === null || output === null) return;
  if (total !== uncached + (read ?? 0) + (write ?? 0) + output) flags.add("total_mismatch");
}
