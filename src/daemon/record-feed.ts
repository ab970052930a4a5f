import type { UsageRecord } from "../core/ledger/record.ts";
import type { MovableLedger } from "../ports.ts";

/** Receives a record after it was appended to the ledger. */
type RecordListener = (record: UsageRecord) => void;

/** Publishes records as they are appended to the ledger: to `tail`, and the newest one to `status`. */
export class RecordFeed {
  readonly #listeners = new Set<RecordListener>();
  readonly #newest = new Map<string, UsageRecord>();

  /** Wraps a ledger so that its records reach this feed. */
  observe(ledger: MovableLedger): MovableLedger {
    return {
      note: (record) => ledger.note(record),
      health: () => ledger.health(),
      moveTo: (location) => ledger.moveTo(location),
      close: () => ledger.close(),
      append: (record) => {
        ledger.append(record);
        this.#newest.set(record.upstream, record);
        for (const listener of this.#listeners) listener(record);
      },
    };
  }

  /** Calls the listener with every record from now on. Returns a function that ends the subscription. */
  subscribe(listener: RecordListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the newest record of an upstream; null when there was none since the start. */
  newest(upstream: string): UsageRecord | null {
    return this.#newest.get(upstream) ?? null;
  }
}
