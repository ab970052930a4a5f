import type { FeedEntry } from "../feed-types.ts";
import { readRecords } from "../feeds.ts";

/** So that a burst takes one question in this time. */
const REST_MS = 2_000;
/** The ledger may not have a record yet. One that it still has not got then is asked for no more. */
const MOST_ASKED = 5;
/** Records that the ledger may have got since, which come before those that are asked for. */
const SPARE_LINES = 20;

/**
 * Finds out what requests cost, and why they missed the cache. The live feed does not say it: the daemon has no prices, so that a process of ours has to answer.
 * One takes as long for the last 200 records as for a single one. So all that wait are asked for at once.
 */
export class LiveCosts {
  readonly #onCost: (entry: FeedEntry) => void;
  readonly #timesAsked = new WeakMap<FeedEntry, number>();
  #nextAt = 0;

  /** @param onCost - called with each entry that has got its cost */
  constructor(onCost: (entry: FeedEntry) => void) {
    this.#onCost = onCost;
  }

  /** Asks for the costs that are missing in these entries, the newest first, unless it has just asked. */
  async read(entries: readonly FeedEntry[]): Promise<void> {
    if (Date.now() < this.#nextAt) return;
    const records = entries.filter((entry) => "id" in entry);
    const oldest = records.findLastIndex((record) => this.#isMissing(record));
    if (oldest === -1) return;
    this.#nextAt = Infinity;
    try {
      const priced = await readRecords({ lines: String(oldest + 1 + SPARE_LINES) });
      const known = new Map(priced.map((record) => [record.id, record]));
      for (const record of records.filter((one) => this.#isMissing(one))) {
        const found = known.get(record.id);
        this.#timesAsked.set(record, (this.#timesAsked.get(record) ?? 0) + 1);
        if (found === undefined) continue;
        record.cost = found.cost;
        record.missed = found.missed;
        this.#onCost(record);
      }
    } catch {
      // The page says already if the daemon is gone; one that is busy is asked again.
    } finally {
      this.#nextAt = Date.now() + REST_MS;
    }
  }

  #isMissing(entry: FeedEntry): boolean {
    return "id" in entry && entry.cost === undefined && (this.#timesAsked.get(entry) ?? 0) < MOST_ASKED;
  }
}
