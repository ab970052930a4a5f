import { setImmediate } from "node:timers/promises";
import { readLedgerAfter } from "../../adapters/ledger-file.ts";
import { loadPriceBook } from "../../adapters/price-table.ts";
import type { PriceSettings } from "../../core/config/config.ts";
import type { LedgerCursor } from "../../core/ledger/after/cursor.ts";
import { UsageMetrics, type EncodedUsageMetrics } from "../../core/metrics/usage-metrics.ts";
import type { PriceBook } from "../../core/price/price-book.ts";
import type { Place } from "../ledger-follower.ts";

/** What metrics are to be counted on from. */
interface MetricsQuestion {
  /** What was counted before, up to `after`. */
  usage: EncodedUsageMetrics;
  after: LedgerCursor;
  prices: PriceSettings;
}

/** How many records are added at once: about 1 ms. */
const SLICE = 64;

/** Returns what is counted up to a place in the ledger. Rejects with a Failure when a file cannot be opened. */
export async function countMetrics(
  { usage: before, after, prices }: MetricsQuestion,
  { directory, cursor: until }: Place,
): Promise<EncodedUsageMetrics> {
  const usage = new UsageMetrics(before);
  await countAfter({ directory, after, until }, usage, await loadPriceBook(prices));
  return usage.encode();
}

/**
 * Adds what a ledger has between two cursors, and calls `onBatch` after each batch with the cursor that agrees with what was added. It may
 * return false to end the reading. Yields to other work. Rejects with a Failure when a file cannot be opened.
 */
export async function countAfter(
  { directory, after, until }: { directory: string; after: LedgerCursor; until: LedgerCursor },
  usage: UsageMetrics,
  prices: PriceBook,
  onBatch: (cursor: LedgerCursor) => boolean = () => true,
): Promise<void> {
  for await (const batch of readLedgerAfter(directory, after, until)) {
    for (const [at, record] of batch.records.entries()) {
      usage.add(record, prices);
      if (at % SLICE === SLICE - 1) await setImmediate();
    }
    usage.unreadable += batch.unreadable + batch.unknownVersion;
    if (!onBatch(batch.cursor)) return;
  }
}
