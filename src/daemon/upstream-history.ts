import type { UsageRecord } from "../core/ledger/record.ts";

/** The newest exchanges with one upstream since the daemon's start. */
export interface UpstreamHistory {
  newest: UsageRecord;
  /** The newest one that worked. */
  worked: UsageRecord | null;
  /** The newest one that the upstream failed; null once another has worked. */
  failed: UsageRecord | null;
}

/** Continues a history, which is null before the first record. */
export function continueHistory(history: UpstreamHistory | null, record: UsageRecord): UpstreamHistory {
  const { worked = null, failed = null } = history ?? {};
  if (hasWorked(record)) return { newest: record, worked: record, failed: null };
  return { newest: record, worked, failed: hasFailed(record) ? record : failed };
}

/** Returns what the upstream did wrong. `words` are those of our refusal, if we sent one. */
export function describeFailure(record: UsageRecord, words: string | null): string {
  const { status, error_type: type, outcome } = record;
  if (words !== null) return words;
  if (type === "upstream_broke") return "the upstream closed the connection before it responded";
  if (outcome === "cut") return "the upstream's response was truncated";
  return `the upstream responded with ${status ?? "an error"}${type === null ? "" : ` (${type})`}`;
}

function hasWorked({ outcome }: UsageRecord): boolean {
  return outcome !== "cut" && outcome !== "rejected" && outcome !== "error" && outcome !== "failed";
}

/** A request that a client aborts, or that we refuse because of the request or a key, says nothing about the upstream. */
function hasFailed({ outcome, cut_by: cutBy, error_type: type }: UsageRecord): boolean {
  if (outcome === "error" || outcome === "failed" || cutBy === "upstream") return true;
  return cutBy !== "client" && /^(?:upstream_|loop_)/.test(type ?? "");
}
