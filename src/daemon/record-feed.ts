import type { UsageRecord } from "../core/ledger/record.ts";
import type { MovableLedger } from "../ports.ts";

/** Hears of one record; called when it stands in the ledger. */
export type RecordListener = (record: UsageRecord) => void;

/** What goes into the ledger, for those who want to see it as it comes: `tail`, and `status` for the newest. */
export class RecordFeed {
  readonly #listeners = new Set<RecordListener>();
  readonly #newest = new Map<string, UsageRecord>();

  /** The same ledger, observed. */
  observe(ledger: MovableLedger): MovableLedger {
    return {
      health: () => ledger.health(),
      moveTo: (place) => ledger.moveTo(place),
      close: () => ledger.close(),
      append: (record) => {
        ledger.append(record);
        this.#newest.set(record.upstream, record);
        for (const hear of this.#listeners) hear(record);
      },
    };
  }

  /** Calls `hear` with every record from now on, until the function that it returns is called. */
  subscribe(hear: RecordListener): () => void {
    this.#listeners.add(hear);
    return () => this.#listeners.delete(hear);
  }

  /** The newest record of an upstream's exchanges; null when there was none since the start. */
  newest(upstream: string): UsageRecord | null {
    return this.#newest.get(upstream) ?? null;
  }
}
