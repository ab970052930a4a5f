import { setImmediate } from "node:timers/promises";
import { readLedgerAfter } from "../../adapters/ledger-file.ts";
import type { LedgerCursor } from "../../core/ledger/after/cursor.ts";
import type { UsageMetrics } from "../../core/metrics/usage-metrics.ts";
import type { PriceBook } from "../../core/price/price-book.ts";

/** A place in a ledger. */
export interface LedgerPlace {
  directory: string;
  cursor: LedgerCursor;
}

/** How many records are added at once: about 1 ms. */
const SLICE = 64;

/**
 * Adds what a ledger has after a place, and calls `onBatch` after each batch with the cursor that agrees with what was added. It may
 * return false to end the reading. Yields to other work. Rejects with a Failure when a file cannot be opened.
 */
export async function countAfter(
  { directory, cursor }: LedgerPlace,
  usage: UsageMetrics,
  prices: PriceBook,
  onBatch: (cursor: LedgerCursor) => boolean,
): Promise<void> {
  for await (const batch of readLedgerAfter(directory, cursor)) {
    for (const [at, record] of batch.records.entries()) {
      usage.add(record, prices);
      if (at % SLICE === SLICE - 1) await setImmediate();
    }
    usage.unreadable += batch.unreadable + batch.unknownVersion;
    if (!onBatch(batch.cursor)) return;
  }
}
