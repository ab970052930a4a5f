import { countOf, fieldsOf } from "../fields.ts";
import type { Fields } from "../json/json-scan.ts";
import type { Flag } from "../reading.ts";
import type { Counts, Lifetimes } from "../tokens.ts";

/** What the parts of a usage object are called whose input includes what was read from and written to cache. */
interface Names {
  input: string;
  inputDetails: string;
  output: string;
  outputDetails: string;
}

const RESPONSES: Names = {
  input: "input_tokens",
  inputDetails: "input_tokens_details",
  output: "output_tokens",
  outputDetails: "output_tokens_details",
};

const CHAT: Names = {
  input: "prompt_tokens",
  inputDetails: "prompt_tokens_details",
  output: "completion_tokens",
  outputDetails: "completion_tokens_details",
};

/**
 * Reads a Responses usage object (usage.md section 1.2): input includes cached and cache-write tokens, output includes
 * reasoning, details may be null.
 */
export function readResponsesUsage(usage: Fields, flags: Set<Flag>): Counts {
  if (countOf(usage[RESPONSES.input]) === null && hasChatNames(usage)) return readChatUsage(usage, flags);
  return readInclusive(usage, RESPONSES, flags);
}

/** Does the object give its input under the names of chat completions, as some gateways do on every route? */
export function hasChatNames(usage: Fields): boolean {
  return chatInput(usage) !== null || countOf(usage[CHAT.output]) !== null;
}

/** Reads a usage object with the names of chat completions, or of DeepSeek; flags it as such. */
export function readChatUsage(usage: Fields, flags: Set<Flag>): Counts {
  flags.add("openai_names");
  return readInclusive({ ...usage, [CHAT.input]: chatInput(usage) }, CHAT, flags);
}

/** DeepSeek may split its prompt in two instead of giving the sum (usage.md section 3). */
function chatInput(usage: Fields): number | null {
  const hit = countOf(usage["prompt_cache_hit_tokens"]);
  const miss = countOf(usage["prompt_cache_miss_tokens"]);
  return countOf(usage[CHAT.input]) ?? (hit !== null && miss !== null ? hit + miss : null);
}

function readInclusive(usage: Fields, names: Names, flags: Set<Flag>): Counts {
  const details = fieldsOf(usage[names.inputDetails]);
  const read =
    countOf(details["cached_tokens"]) ??
    countOf(usage["prompt_cache_hit_tokens"]) ??
    countOf(usage["cached_tokens"]);
  const write = countOf(details["cache_write_tokens"]);
  const input = countOf(usage[names.input]);
  const counts: Counts = {
    uncached: input === null ? null : withoutCache(input, (read ?? 0) + (write ?? 0), flags),
    read,
    write,
    lifetimes: readLifetimes(fieldsOf(details["cache_write_tokens_details"])),
    output: countOf(usage[names.output]),
    reasoning: countOf(fieldsOf(usage[names.outputDetails])["reasoning_tokens"]),
  };
  checkTotal(countOf(usage["total_tokens"]), counts, flags);
  return counts;
}

/** Less input than cache proves that this service left the cache out of it: then input is as given. */
function withoutCache(input: number, cached: number, flags: Set<Flag>): number {
  if (input >= cached) return input - cached;
  flags.add("negative_uncached");
  return input;
}

function readLifetimes(details: Fields): Lifetimes | null {
  const m30 = countOf(details["ttl_30m_tokens"]);
  const h12 = countOf(details["ttl_12h_tokens"]);
  return m30 === null && h12 === null ? null : { m30: m30 ?? 0, h12: h12 ?? 0 };
}

function checkTotal(total: number | null, { uncached, read, write, output }: Counts, flags: Set<Flag>): void {
  if (total === null || uncached === null || output === null) return;
  if (total !== uncached + (read ?? 0) + (write ?? 0) + output) flags.add("total_mismatch");
}
