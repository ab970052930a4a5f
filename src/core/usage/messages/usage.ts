import { countOf, fieldsOf, isFields } from "../fields.ts";
import { hasChatNames, readChatUsage } from "../responses/usage.ts";
import type { Fields } from "../json/json-scan.ts";
import { BEDROCK_METRICS } from "./merged-usage.ts";
import type { Flag } from "../reading.ts";
import { sumLifetimes } from "../tokens.ts";
import type { Counts, Lifetimes } from "../tokens.ts";

/**
 * Reads a Messages usage object (usage.md sections 1.1 and 3): input excludes both cache classes.
 * `iterated`: the split of cache writes that the iterations give; it serves where the object's own is stale.
 * `inputIncludesCache`: the upstream is known to add the cache to `input_tokens`; believed where it is possible.
 */
export function readMessagesUsage(
  usage: Fields,
  iterated: Lifetimes | null,
  inputIncludesCache: boolean,
  flags: Set<Flag>,
): Counts {
  const metrics = usage[BEDROCK_METRICS];
  const isNamedOtherwise = countOf(usage["input_tokens"]) === null && hasChatNames(usage);
  const counts = isNamedOtherwise ? readMixedUsage(usage, flags) : readMessagesCounts(usage);
  if (isInclusive(usage, counts, inputIncludesCache)) {
    counts.uncached = (counts.uncached ?? 0) - (counts.read ?? 0) - (counts.write ?? 0);
    flags.add("input_included_cache");
  }
  if (isFields(metrics)) applyMetrics(counts, metrics);
  const isIteratedRight = iterated !== null && sumLifetimes(iterated) === counts.write;
  if (isIteratedRight && !addsUp(counts)) counts.lifetimes = iterated;
  return counts;
}

/** Reads one usage object, of a whole message or of an iteration, by the API's own names. */
export function readMessagesCounts(usage: Fields): Counts {
  const lifetimes = readLifetimes(usage);
  return {
    uncached: countOf(usage["input_tokens"]),
    read: countOf(usage["cache_read_input_tokens"]),
    write:
      countOf(usage["cache_creation_input_tokens"]) ?? (lifetimes === null ? null : sumLifetimes(lifetimes)),
    lifetimes,
    output: countOf(usage["output_tokens"]),
    reasoning: countOf(fieldsOf(usage["output_tokens_details"])["thinking_tokens"]),
  };
}

/** Calls of the service's own tools: `web_search_requests: 2` is `{ web_search: 2 }`. */
export function readServerTools(tools: Fields): Record<string, number> {
  const calls = Object.entries(tools).flatMap(([name, value]): [string, number][] => {
    const count = countOf(value);
    return count === null ? [] : [[name.replace(/_requests$/, ""), count]];
  });
  return Object.fromEntries(calls);
}

/** A gateway that says `prompt_tokens` may still say some things by the API's own names. */
function readMixedUsage(usage: Fields, flags: Set<Flag>): Counts {
  const own = readMessagesCounts(usage);
  const chat = readChatUsage(usage, flags);
  return { ...chat, output: own.output ?? chat.output, reasoning: own.reasoning ?? chat.reasoning };
}

/** The cache writes by lifetime: the API's own split, or new-api's (usage.md section 3). */
function readLifetimes(usage: Fields): Lifetimes | null {
  const split = fieldsOf(usage["cache_creation"]);
  const m5 =
    countOf(split["ephemeral_5m_input_tokens"]) ?? countOf(usage["claude_cache_creation_5_m_tokens"]);
  const h1 =
    countOf(split["ephemeral_1h_input_tokens"]) ?? countOf(usage["claude_cache_creation_1_h_tokens"]);
  return m5 === null && h1 === null ? null : { m5: m5 ?? 0, h1: h1 ?? 0 };
}

/**
 * Does `input_tokens` contain the cache classes? Provable only where the gateway repeats it as `prompt_tokens`, which
 * is inclusive by definition unless `usage_semantic` says that it is Anthropic's (new-api); else as configured.
 * Less input than cache proves the contrary.
 */
function isInclusive(usage: Fields, { uncached, read, write }: Counts, isConfigured: boolean): boolean {
  const input = countOf(usage["input_tokens"]);
  if (input === null || uncached !== input) return false;
  const cached = (read ?? 0) + (write ?? 0);
  if (cached === 0 || input < cached) return false;
  const isRepeated = countOf(usage["prompt_tokens"]) === input && usage["usage_semantic"] !== "anthropic";
  return isConfigured || (isRepeated && read !== null && read > 0);
}

/** Bedrock's metrics come last and are what it bills by: what they say replaces the rest. */
function applyMetrics(counts: Counts, metrics: Fields): void {
  counts.uncached = countOf(metrics["inputTokenCount"]) ?? counts.uncached;
  counts.read = countOf(metrics["cacheReadInputTokenCount"]) ?? counts.read;
  counts.write = countOf(metrics["cacheWriteInputTokenCount"]) ?? counts.write;
  counts.output = countOf(metrics["outputTokenCount"]) ?? counts.output;
}

function addsUp({ write, lifetimes }: Counts): boolean {
  return lifetimes !== null && sumLifetimes(lifetimes) === write;
}
