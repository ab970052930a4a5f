import { howNotCompleted } from "../../../../core/ledger/spend.ts";
import type { PricedRecord } from "../feed-types.ts";
import { formatCount, formatDollars } from "../numbers.ts";

/** Says what listed requests come to: `27 requests, ≥$2.08, 5 failed`. What a plan paid and what was free has no cost. */
export function describeDay(records: readonly PricedRecord[]): string {
  const costs = records.map(({ cost }) => cost);
  const dollars = costs.reduce((sum, { amount_usd: amount }) => sum + Number(amount ?? 0), 0);
  const isWhole = costs.every(
    ({ is_complete: isComplete, is_lower_bound: isBound }) => isComplete && !isBound,
  );
  const failed = records.filter((record) => howNotCompleted(record) === "failed").length;
  return [
    `${formatCount(records.length)} ${records.length === 1 ? "request" : "requests"}`,
    ...(dollars === 0 ? [] : [`${isWhole ? "" : "≥"}${formatDollars(dollars)}`]),
    ...(failed === 0 ? [] : [`${formatCount(failed)} failed`]),
  ].join(", ");
}
