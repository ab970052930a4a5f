import type { UsageRecord } from "../core/ledger/record.ts";
import { truncateRecord } from "../core/ledger/truncate-record.ts";
import type { LedgerMark, MovableLedger } from "../ports.ts";
import { isRecord, type RecordFeed } from "./record-feed.ts";

/** A place in a ledger: everything before it is summed up. */
export type Place = Pick<LedgerMark, "directory" | "cursor">;

interface FollowerParts {
  feed: Pick<RecordFeed, "subscribe">;
  ledger: Pick<MovableLedger, "mark" | "hasOthers" | "health">;
  /** Is called with each record that this daemon appends, as the ledger has it. */
  onRecord(record: UsageRecord): void;
}

/**
 * Keeps sums of the ledger up to date, exactly: a thread adds up what the files have at one moment, to the byte, and this daemon's own
 * records are added from that moment on. No clock decides what is before and what is after. Whatever else changes the files is noticed by
 * their sizes ({@link hasMissed}), and then they are to be summed up again.
 */
export class LedgerFollower {
  readonly #parts: FollowerParts;
  #mark: LedgerMark | null = null;
  /** Records since the mark; null while nothing is summed up. */
  #since: UsageRecord[] | null = null;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    parts.feed.subscribe((entry) => {
      if (!isRecord(entry)) return;
      const kept = truncateRecord(entry);
      this.#since?.push(kept);
      parts.onRecord(kept);
    });
  }

  /**
   * Has the ledger summed up as it is at this moment, by a thread that `read` starts. Resolves to these sums and the records that are to be
   * added to them: all that were appended since, and those that wait to be written. One call at a time. Rejects when the ledger cannot be
   * read.
   */
  async sumUp<Sums>(
    read: (place: Place) => Promise<Sums>,
  ): Promise<{ sums: Sums; since: readonly UsageRecord[] }> {
    const mark = this.#parts.ledger.mark();
    const { directory, cursor } = mark;
    const since = [...mark.waiting];
    this.#since = since;
    try {
      const sums = await read({ directory, cursor });
      this.#mark = mark;
      return { sums, since };
    } finally {
      this.#since = null;
    }
  }

  /**
   * True if anything but this daemon has changed the ledger since it was summed up, such as another daemon that writes to it, or if that
   * cannot be told. `from` is the first day that matters, in UTC, `YYYY-MM-DD`.
   */
  hasMissed(from: string): boolean {
    const { ledger } = this.#parts;
    if (this.#mark === null) return false;
    try {
      // What was summed up stays so when the ledger moves.
      if (ledger.health().directory !== this.#mark.directory) this.#mark = ledger.mark();
      return ledger.hasOthers(this.#mark, from);
    } catch {
      return true;
    }
  }
}
