import { isObject, type JsonObject } from "../../json.ts";
import { asCount, asObject } from "../fields.ts";
import { readInclusiveUsage } from "../inclusive-usage.ts";
import { BEDROCK_METRICS } from "./merged-usage.ts";
import type { Flag } from "../reading.ts";
import { readSentCounts } from "../sent-counts.ts";
import { sumLifetimes, type UsageCounts, type CacheLifetimes } from "../tokens.ts";

/**
 * Reads a Messages usage object, whose input excludes cache reads and writes (docs/wire.md sections 5 and 9). `iterated`, the
 * iterations' cache writes by lifetime, replaces a stale split. `inputIncludesCache` is what the configuration says of the
 * upstream; it is ignored where the counts contradict it.
 */
export function readMessagesUsage(
  usage: JsonObject,
  iterated: CacheLifetimes | null,
  inputIncludesCache: boolean,
  flags: Set<Flag>,
): UsageCounts {
  const metrics = usage[BEDROCK_METRICS];
  const own = readMessagesCounts(usage);
  const counts = sumInput(own) > 0 ? own : readOtherNames(usage, own, flags);
  if (isInclusive(usage, counts, inputIncludesCache)) {
    counts.uncached = (counts.uncached ?? 0) - (counts.read ?? 0) - (counts.write ?? 0);
    flags.add("input_included_cache");
  }
  if (isObject(metrics)) applyMetrics(counts, metrics);
  if (addsUp(iterated, counts.write) && !addsUp(counts.lifetimes, counts.write)) counts.lifetimes = iterated;
  return counts;
}

/** Reads the usage object of a message or of an iteration, by the API's own names. */
export function readMessagesCounts(usage: JsonObject): UsageCounts {
  const lifetimes = readLifetimes(usage);
  return {
    uncached: asCount(usage["input_tokens"]),
    read: asCount(usage["cache_read_input_tokens"]),
    write:
      asCount(usage["cache_creation_input_tokens"]) ?? (lifetimes === null ? null : sumLifetimes(lifetimes)),
    lifetimes,
    output: asCount(usage["output_tokens"]),
    reasoning: asCount(asObject(usage["output_tokens_details"])["thinking_tokens"]),
  };
}

function sumInput({ uncached, read, write }: UsageCounts): number {
  return (uncached ?? 0) + (read ?? 0) + (write ?? 0);
}

/** Reads the object of a gateway that has its input under other names, such as `prompt_tokens`, along with the API's own. */
function readOtherNames(usage: JsonObject, own: UsageCounts, flags: Set<Flag>): UsageCounts {
  const { names, input, output } = readSentCounts(usage, "chat");
  const isOther = (input ?? 0) > 0 || (own.uncached === null && own.output === null && output !== null);
  if (names === "responses" || !isOther) return own;
  const others = readInclusiveUsage(usage, "chat", flags.add("openai_names"));
  return { ...others, output: own.output ?? others.output, reasoning: own.reasoning ?? others.reasoning };
}

/** Reads the cache writes by lifetime: the API's own split, or that of new-api (docs/wire.md section 9). */
function readLifetimes(usage: JsonObject): CacheLifetimes | null {
  const split = asObject(usage["cache_creation"]);
  const m5 =
    asCount(split["ephemeral_5m_input_tokens"]) ?? asCount(usage["claude_cache_creation_5_m_tokens"]);
  const h1 =
    asCount(split["ephemeral_1h_input_tokens"]) ?? asCount(usage["claude_cache_creation_1_h_tokens"]);
  return m5 === null && h1 === null ? null : { m5: m5 ?? 0, h1: h1 ?? 0 };
}

/**
 * True when `input_tokens` includes cache reads and writes. That is certain only when the gateway repeats it as
 * `prompt_tokens`, which includes them by definition unless `usage_semantic` is `anthropic` (new-api). Otherwise the
 * configuration decides. Less input than cache proves the opposite.
 */
function isInclusive(
  usage: JsonObject,
  { uncached, read, write }: UsageCounts,
  isConfigured: boolean,
): boolean {
  const input = asCount(usage["input_tokens"]);
  if (input === null || uncached !== input) return false;
  const cached = (read ?? 0) + (write ?? 0);
  if (cached === 0 || input < cached) return false;
  const isRepeated = asCount(usage["prompt_tokens"]) === input && usage["usage_semantic"] !== "anthropic";
  return isConfigured || (isRepeated && read !== null && read > 0);
}

/** Bedrock's metrics come last and are what it bills, so they override the rest. */
function applyMetrics(counts: UsageCounts, metrics: JsonObject): void {
  counts.uncached = asCount(metrics["inputTokenCount"]) ?? counts.uncached;
  counts.read = asCount(metrics["cacheReadInputTokenCount"]) ?? counts.read;
  counts.write = asCount(metrics["cacheWriteInputTokenCount"]) ?? counts.write;
  counts.output = asCount(metrics["outputTokenCount"]) ?? counts.output;
}

function addsUp(lifetimes: CacheLifetimes | null, total: number | null): boolean {
  return lifetimes !== null && sumLifetimes(lifetimes) === total;
}
