import { findCreated } from "../adapters/ledger-file.ts";
import { messageOf } from "../core/failure.ts";
import { createdIn, mayBeRecorded, type Creator } from "../core/decide/creator.ts";
import { dayAt } from "../core/ledger/day.ts";
import type { Clock, Creators, Log, MovableLedger } from "../ports.ts";
import { readInThread } from "./ledger-reader.ts";
import { isRecord, type RecordFeed } from "./record-feed.ts";

/** How many objects are remembered, 200 bytes each. Those that are older are looked for in the ledger. */
const MAX_KNOWN = 10_000;

/** How many ids are remembered that were looked for. Clients choose them. */
const MAX_FOUND = 1_000;

/** How many searches may wait for their turn. An id for which there is no room counts as unknown. */
const MAX_WAITING = 8;

/** How long OpenAI keeps a response (https://developers.openai.com/api/docs/guides/your-data): one that is older is stored nowhere. */
const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A request waits no longer for a search. */
const LIMIT_MS = 10_000;

/** Reads the ledger. */
export type FindCreated = typeof findCreated;

interface CreatorParts {
  feed: Pick<RecordFeed, "subscribe">;
  ledger: Pick<MovableLedger, "health">;
  clock: Clock;
  log: Log;
  /** By default a thread of its own does, so that requests wait for nothing. */
  find?: FindCreated;
}

/**
 * Knows who created stored objects: of the newest from the records as they are written, of older ones, and after a restart, from the
 * ledger's files. Memory is bounded.
 */
export class DaemonCreators implements Creators {
  readonly #parts: CreatorParts;
  /** By id, the oldest first. */
  readonly #known = new Map<string, Creator>();
  /** What searches have found; null where that was nothing. */
  readonly #found = new Map<string, Creator | null>();
  readonly #searches = new Map<string, Promise<void>>();
  #last: Promise<void> = Promise.resolve();

  constructor(parts: CreatorParts) {
    this.#parts = parts;
    parts.feed.subscribe((entry) => {
      const created = isRecord(entry) ? createdIn(entry) : null;
      if (created === null) return;
      remember(this.#known, created.id, created.creator, MAX_KNOWN);
      this.#found.delete(created.id);
    });
  }

  find(id: string): Creator | null | undefined {
    const creator = this.#known.get(id) ?? this.#found.get(id);
    return creator === undefined && !mayBeRecorded(id) ? null : creator;
  }

  look(id: string): Promise<void> {
    const running = this.#searches.get(id);
    if (running !== undefined) return running;
    const search = this.#search(id).finally(() => this.#searches.delete(id));
    this.#searches.set(id, search);
    return search;
  }

  async #search(id: string): Promise<void> {
    let creator: Creator | null = null;
    try {
      if (this.#searches.size < MAX_WAITING) creator = await this.#readInTurn(id);
    } catch (error) {
      this.#parts.log.warn(
        { about: "ledger", reason: messageOf(error) },
        "the ledger could not be searched for who created a stored object; the first upstream that fits is asked for it",
      );
    }
    this.#keep(id, creator);
  }

  #keep(id: string, creator: Creator | null): void {
    if (!this.#known.has(id)) remember(this.#found, id, creator, MAX_FOUND);
  }

  /** One after the other: each reads all of the files in the worst case. */
  async #readInTurn(id: string): Promise<Creator | null> {
    const { ledger, clock, find } = this.#parts;
    const from = dayAt(clock.now() - DAYS * DAY_MS);
    const read = this.#last.then(() => {
      const { directory } = ledger.health();
      return find === undefined ? readInThread("creators", directory, id, from) : find(directory, id, from);
    });
    // Kept also where it comes too late for the request that asked.
    this.#last = read.then((creator) => this.#keep(id, creator), ignore);
    const timeout = new AbortController();
    const tooLate = new Promise<null>((resolve) => {
      const timer = setTimeout(() => resolve(null), LIMIT_MS).unref();
      timeout.signal.addEventListener("abort", () => clearTimeout(timer));
    });
    try {
      return await Promise.race([read, tooLate]);
    } finally {
      timeout.abort();
    }
  }
}

/** Puts an entry at the end, and removes the oldest if there are too many. */
function remember<Value>(entries: Map<string, Value>, id: string, value: Value, atMost: number): void {
  entries.delete(id);
  entries.set(id, value);
  const [oldest] = entries.keys();
  if (entries.size > atMost && oldest !== undefined) entries.delete(oldest);
}

function ignore(): void {}
