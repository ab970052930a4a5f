import type { UsageRecord } from "../../../core/ledger/record.ts";
import { isOwnUpstream, isPlanUpstream } from "../../../core/plans/names.ts";
import type { Cost } from "./feed-types.ts";
import { formatDollarsIn } from "./numbers.ts";

/** What of a record says what its cost means. */
export type Charged = Pick<UsageRecord, "tokens" | "upstream" | "model" | "usage" | "flags">;

/** Returns what a request cost; `≥` where that is only a part. As in `usage`, `plan` or `own` where the tool itself paid, and `free` where tokens cost nothing. In a list, with the decimals of its column. */
export function describeCost(cost: Cost, record: Charged, decimals?: number): string {
  const { amount_usd: amount, missing, from } = cost;
  if (from === "free" && record.tokens !== null) return wordFor(record.upstream);
  if (amount === null) return missing.length > 0 ? "unpriced" : "unknown";
  return `${boundOf(cost)}${formatDollarsIn(Number(amount), decimals)}`;
}

function wordFor(upstream: string): string {
  if (isOwnUpstream(upstream)) return "own";
  return isPlanUpstream(upstream) ? "plan" : "free";
}

/** The same for lists, where `–` says that a request without tokens cost nothing: it failed or was refused. */
export function costInList(cost: Cost, record: Charged, decimals?: number): string {
  return cost.from === "free" && record.tokens === null ? "–" : describeCost(cost, record, decimals);
}

/** `≥` where a cost is only a part. */
export function boundOf({ is_complete: isComplete, is_lower_bound: isBound }: Cost): string {
  return isComplete && !isBound ? "" : "≥";
}
