import { isPaidByTool } from "../../plans/names.ts";
import { costOf, worthOf, type Cost } from "../../price/cost.ts";
import type { PriceBook } from "../../price/price-book.ts";
import type { SummableRecord, UsageRecord } from "../record.ts";
import { classify, isBackground, type CountedRequest } from "../spend.ts";

/** What one record is in the sums of reports. */
export interface RequestCost {
  kind: ReturnType<typeof classify>;
  /** The record with the usage: another one where a later fetch has brought it. */
  source: SummableRecord;
  /** The record for which the response counts, where that is another one, and the ledger has it. */
  countedFor: SummableRecord | null;
  /** What it adds to the cost; null for one that counts for another record. */
  cost: Cost | null;
  /** What it adds to the worth of a plan, or of tools' own keys; null where neither paid. */
  worth: Cost | null;
}

/**
 * Returns what a record adds to the sums of reports, line by line. The costs of all records add up to the cost that `usage` shows of them.
 * @param background the response that the record is about, if it ran in the background
 */
export function costInSums(
  record: UsageRecord,
  background: CountedRequest | null,
  prices: PriceBook,
): RequestCost {
  const kind = classify(record);
  const countedFor = isBackground(record, kind) ? (background?.record ?? null) : null;
  if (kind === "fetch" || (countedFor !== null && countedFor.id !== record.id))
    return { kind, source: record, countedFor, cost: null, worth: null };
  const source = countedFor === null ? record : (background?.source ?? record);
  const worth = isPaidByTool(record.upstream) ? worthOf(source, prices) : null;
  return { kind, source, countedFor: null, cost: costOf(source, prices), worth };
}
