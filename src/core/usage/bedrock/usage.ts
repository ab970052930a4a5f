import type { JsonObject } from "../../json.ts";
import { asCount, asObject } from "../fields.ts";
import type { Flag } from "../reading.ts";
import type { CacheLifetimes, UsageCounts } from "../tokens.ts";

/**
 * Reads the usage object of Converse, and of what Amazon's own models respond when invoked: `inputTokens` are those outside of the cache
 * (docs/wire.md section 14). `totalTokens` has all of them, or leaves the cache out.
 */
export function readConverseUsage(usage: JsonObject, flags: Set<Flag>): UsageCounts {
  const uncached = asCount(usage["inputTokens"]);
  const output = asCount(usage["outputTokens"]);
  const read = asCount(usage["cacheReadInputTokens"]) ?? asCount(usage["cacheReadInputTokenCount"]);
  const write = asCount(usage["cacheWriteInputTokens"]) ?? asCount(usage["cacheWriteInputTokenCount"]);
  const total = asCount(usage["totalTokens"]);
  const outside = (uncached ?? 0) + (output ?? 0);
  const sum = outside + (read ?? 0) + (write ?? 0);
  if (total !== null && total !== sum && total !== outside) flags.add("total_mismatch");
  return { uncached, read, write, lifetimes: readLifetimes(usage["cacheDetails"]), output, reasoning: null };
}

/** Reads the metrics at the end of a stream, or the same counts of the headers: what Bedrock bills, of any model. */
export function readMetrics(metrics: JsonObject): UsageCounts {
  return {
    uncached: asCount(metrics["inputTokenCount"]),
    read: asCount(metrics["cacheReadInputTokenCount"]),
    write: asCount(metrics["cacheWriteInputTokenCount"]),
    lifetimes: null,
    output: asCount(metrics["outputTokenCount"]),
    reasoning: null,
  };
}

/** The lifetimes that a cache can have, by Bedrock's words. */
const LIFETIMES = { "5m": "m5", "1h": "h1" } as const;

/** Reads how much was written for each lifetime; null where nothing is said, or an unknown one is. */
function readLifetimes(details: unknown): CacheLifetimes | null {
  if (!Array.isArray(details) || details.length === 0) return null;
  const lifetimes: CacheLifetimes = {};
  for (const detail of details) {
    const { ttl, inputTokens } = asObject(detail);
    if (ttl !== "5m" && ttl !== "1h") return null;
    const name = LIFETIMES[ttl];
    lifetimes[name] = (lifetimes[name] ?? 0) + (asCount(inputTokens) ?? 0);
  }
  return lifetimes;
}
