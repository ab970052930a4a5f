import { setTimeout as delay } from "node:timers/promises";
import { followDaemon } from "../../../adapters/control-socket.ts";
import { cursorAtEnd, readLedgerAfter } from "../../../adapters/ledger-file.ts";
import { findControlPath } from "../../../daemon/control/find-path.ts";
import type { LedgerCursor } from "../../../core/ledger/after/cursor.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { isRecord, readEntry, type FeedEntry } from "../../../daemon/record-feed.ts";

/** How often it is tried to reach the next daemon. */
const RETRY_MS = 500;
/** How often the place in the ledger is marked up to which the daemon has told everything. Its feed is never so late. */
const MARK_MS = 60_000;
/** How many ids are remembered, so that no record is shown twice. */
const REMEMBERED = 20_000;

/** What happens to a follower: an entry of the feed, or that the daemon has stopped, or that the next has started. */
type Followed = { entry: FeedEntry } | { daemon: "stopped" | "started" };

/** Records that were shown, by their ids. */
export class ShownRecords {
  readonly #ids = new Set<string>();

  /** Remembers that a record was shown. Returns false if it was before. */
  remember({ id }: UsageRecord): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > REMEMBERED && oldest !== undefined) this.#ids.delete(oldest);
    return true;
  }
}

/**
 * Follows the daemon, and the next one after it has stopped. What was recorded in between is read from the ledger: what was appended to it,
 * whenever the request arrived and however long its usage took.
 */
export class Follower {
  readonly #ledger: string;
  readonly #shown: ShownRecords;
  /** Everything before this place was told, or was there before. */
  #told: LedgerCursor;
  /** A later place, which becomes {@link #told}. */
  #next: LedgerCursor;
  #markedAt = Date.now();

  /**
   * @param ledger the directory of the records. Throws a Failure when it cannot be read.
   * @param shown what was shown, and what the follower yields from then on
   */
  constructor(ledger: string, shown: ShownRecords) {
    this.#ledger = ledger;
    this.#shown = shown;
    this.#next = this.#told = cursorAtEnd(ledger);
  }

  /** Yields what happens from now on, and does not end. `entries` are those of the running daemon. */
  async *follow(entries: AsyncIterable<unknown>): AsyncGenerator<Followed> {
    for (let current: AsyncIterable<unknown> = entries; ;) {
      for await (const entry of current) {
        const known = readEntry(entry);
        if (Date.now() - this.#markedAt > MARK_MS) this.#mark(this.#next);
        if (known !== null && (!isRecord(known) || this.#shown.remember(known))) yield { entry: known };
      }
      yield { daemon: "stopped" };
      current = await nextDaemon();
      yield { daemon: "started" };
      yield* this.#missed();
    }
  }

  async *#missed(): AsyncGenerator<Followed> {
    let told = this.#told;
    for await (const { records, cursor } of readLedgerAfter(this.#ledger, told)) {
      for (const entry of records) if (this.#shown.remember(entry)) yield { entry };
      told = cursor;
    }
    this.#mark(told);
  }

  /** Everything before `told` was told. What is in the ledger now will have been in a minute. */
  #mark(told: LedgerCursor): void {
    this.#told = told;
    this.#next = cursorAtEnd(this.#ledger);
    this.#markedAt = Date.now();
  }
}

async function nextDaemon(): Promise<AsyncIterable<unknown>> {
  for (;;) {
    await delay(RETRY_MS);
    const entries = await followDaemon(await findControlPath());
    if (entries !== null) return entries;
  }
}
