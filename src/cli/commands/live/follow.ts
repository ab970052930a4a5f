import { setTimeout as delay } from "node:timers/promises";
import { followDaemon } from "../../../adapters/control-socket.ts";
import { findControlPath } from "../../../daemon/control/find-path.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { isRecord, readEntry, type FeedEntry } from "../../../daemon/record-feed.ts";
import { recordsOfPeriod } from "../../ledger/records-of-period.ts";

/** How often it is tried to reach the next daemon. */
const RETRY_MS = 500;
/** What a daemon records at its start of requests that a crash has cut off may have been noted so long before. */
const NOTED_BEFORE_MS = 120_000;
/** The longest that a request may have taken whose record was written while no daemon was followed. */
const LONGEST_MS = 86_400_000;
/** How many ids are remembered, so that no record is shown twice. */
const REMEMBERED = 20_000;

/** What happens to a follower: an entry of the feed, or that the daemon has stopped, or that the next has started. */
type Followed = { entry: FeedEntry } | { daemon: "stopped" | "started" };

/** Follows the daemon, and the next one after it has stopped. What was recorded in between is read from the ledger. */
export class Follower {
  readonly #ledger: string;
  readonly #startedAt = Date.now();
  readonly #seen = new Set<string>();

  /** @param ledger the directory of the records */
  constructor(ledger: string) {
    this.#ledger = ledger;
  }

  /** Remembers that a record was shown. Returns false if it was before. */
  remember({ id }: UsageRecord): boolean {
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    const [oldest] = this.#seen;
    if (this.#seen.size > REMEMBERED && oldest !== undefined) this.#seen.delete(oldest);
    return true;
  }

  /** Yields what happens from now on, and does not end. `entries` are those of the running daemon. */
  async *follow(entries: AsyncIterable<unknown>): AsyncGenerator<Followed> {
    for (let current: AsyncIterable<unknown> = entries; ;) {
      for await (const entry of current) {
        const known = readEntry(entry);
        if (known !== null && (!isRecord(known) || this.remember(known))) yield { entry: known };
      }
      const lostAt = Date.now();
      yield { daemon: "stopped" };
      current = await nextDaemon();
      yield { daemon: "started" };
      yield* this.#missed(lostAt);
    }
  }

  async *#missed(lostAt: number): AsyncGenerator<Followed> {
    const endedFrom = Math.max(this.#startedAt, lostAt - NOTED_BEFORE_MS);
    const isMissed = (record: UsageRecord) => Date.parse(record.ts) + record.duration_ms >= endedFrom;
    for await (const entry of recordsOfPeriod(this.#ledger, { since: lostAt - LONGEST_MS, until: null }))
      if (isMissed(entry) && this.remember(entry)) yield { entry };
  }
}

async function nextDaemon(): Promise<AsyncIterable<unknown>> {
  for (;;) {
    await delay(RETRY_MS);
    const entries = await followDaemon(await findControlPath());
    if (entries !== null) return entries;
  }
}
