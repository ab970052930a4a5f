import { isObject } from "../json.ts";
import { UsageMetrics, type EncodedUsageMetrics } from "./usage-metrics.ts";

/** What is kept of metrics beside the cursor of what they count. */
export interface MetricsState {
  v: 1;
  /** The ledger's directory that the cursor is for. */
  directory: string;
  usage: EncodedUsageMetrics;
}

/** Returns a state that was written as JSON; null for anything else, and for that of another release that counts otherwise. */
export function parseMetricsState(value: unknown): MetricsState | null {
  if (!isObject(value) || value["v"] !== 1 || typeof value["directory"] !== "string") return null;
  const usage = value["usage"] as EncodedUsageMetrics;
  try {
    // Whatever is missing fails here, and not in a scrape.
    return { v: 1, directory: value["directory"], usage: new UsageMetrics(usage).encode() };
  } catch {
    return null;
  }
}
