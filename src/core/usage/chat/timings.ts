import type { JsonObject } from "../../json.ts";
import { asCount } from "../fields.ts";
import type { Flag } from "../reading.ts";
import type { UsageCounts } from "../tokens.ts";

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
