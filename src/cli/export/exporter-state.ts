import { isObject } from "../../core/json.ts";
import type { ExportCounts } from "../../core/export/exporter-status.ts";
import { UsageMetrics, type EncodedUsageMetrics } from "../../core/metrics/usage-metrics.ts";

/** What an exporter keeps beside its cursor. The sums are those of all records before it. */
export interface ExporterState {
  /** Of another format nothing is taken over. */
  v: 1;
  /** `service.instance.id`. */
  instance: string;
  /** Keeps hashed names from being guessed by trying all names; never leaves this machine. */
  salt: string;
  /** Since when the sums grow, in milliseconds since 1970. */
  startedAt: number;
  counts: ExportCounts;
  metrics: EncodedUsageMetrics;
}

/**
 * Returns a state that was written as JSON; null for anything else. Sums that this release cannot read begin again at `now`, in milliseconds
 * since 1970: no record is left out because of them.
 */
export function parseExporterState(value: unknown, now = Date.now()): ExporterState | null {
  if (!isObject(value) || value["v"] !== 1) return null;
  const { instance, salt, startedAt, counts, metrics } = value;
  const areTexts = typeof instance === "string" && typeof salt === "string";
  if (!areTexts || typeof startedAt !== "number" || !isObject(counts)) return null;
  const state = { v: 1, instance, salt, counts: counts as unknown as ExportCounts } as const;
  try {
    return { ...state, startedAt, metrics: new UsageMetrics(metrics as EncodedUsageMetrics).encode() };
  } catch {
    return { ...state, startedAt: now, metrics: new UsageMetrics().encode() };
  }
}
