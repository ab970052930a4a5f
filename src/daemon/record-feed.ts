import { anyWord, NUMBER, nullOr, objectOf, TEXT } from "../core/data-shape.ts";
import type { UnrecordedRefusal } from "../core/refusals/refusal.ts";
import { isObject } from "../core/json.ts";
import { parseRecord } from "../core/ledger/parse-record.ts";
import type { UsageRecord } from "../core/ledger/record.ts";
import { continueHistory, type UpstreamHistory } from "../core/upstream-health.ts";
import type { MovableLedger } from "../ports.ts";

/** What is to be known at once, and is no request: a share of a budget has been spent. */
interface Notice {
  ts: string;
  notice: string;
}

/** What the feed publishes: records after they were appended to the ledger, refusals that leave none, and notices. */
export type FeedEntry = UsageRecord | UnrecordedRefusal | Notice;

/** True for a record of the ledger. */
export function isRecord(entry: FeedEntry): entry is UsageRecord {
  return "id" in entry;
}

const REFUSAL = objectOf<UnrecordedRefusal>({
  ts: TEXT,
  refused: anyWord(),
  status: NUMBER,
  tool: nullOr(TEXT),
  method: TEXT,
  path: TEXT,
});

const NOTICE = objectOf<Notice>({ ts: TEXT, notice: TEXT });

/** Returns what a daemon has sent as an entry; null for what is none, or one of a later version. */
export function readEntry(value: unknown): FeedEntry | null {
  if (isObject(value) && "id" in value) {
    const record = parseRecord(JSON.stringify(value));
    return typeof record === "string" ? null : record;
  }
  const isKnown = [REFUSAL, NOTICE].some((shape) => shape.findFault(value, "") === null);
  return isKnown ? (value as UnrecordedRefusal | Notice) : null;
}

type FeedListener = (entry: FeedEntry) => void;

/** Publishes records as they are appended to the ledger, refusals without one, and notices: to `tail`, and the newest to `status`. */
export class RecordFeed {
  readonly #listeners = new Set<FeedListener>();
  readonly #histories = new Map<string, UpstreamHistory>();
  #newestRefusal: UnrecordedRefusal | null = null;
  #watchers = 0;

  /** Returns the ledger as it is, but what is written to it also reaches this feed. */
  publishing(ledger: MovableLedger): MovableLedger {
    return {
      note: (records) => ledger.note(records),
      noteUnsent: (record) => ledger.noteUnsent(record),
      health: () => ledger.health(),
      mark: () => ledger.mark(),
      hasOthers: (mark, from) => ledger.hasOthers(mark, from),
      moveTo: (location) => ledger.moveTo(location),
      close: () => ledger.close(),
      append: (records) => {
        ledger.append(records);
        for (const record of records) {
          const history = continueHistory(this.history(record.upstream), record);
          this.#histories.set(record.upstream, history);
          this.#publish(record);
        }
      },
    };
  }

  /** Calls the listener with every entry from now on. Returns a function that ends the subscription. */
  subscribe(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** As {@link subscribe}, for a person who looks on: {@link isWatched} is true meanwhile. */
  watch(listener: FeedListener): () => void {
    this.#watchers += 1;
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener)) this.#watchers -= 1;
    };
  }

  /** True while a `tail` or a page of the dashboard is open. */
  get isWatched(): boolean {
    return this.#watchers > 0;
  }

  /** Publishes a refusal that leaves no record. */
  refused(refusal: UnrecordedRefusal): void {
    this.#newestRefusal = refusal;
    this.#publish(refusal);
  }

  /** Publishes a notice. */
  notify(notice: Notice): void {
    this.#publish(notice);
  }

  /** Returns what is known of an upstream; null when no exchange with it has ended since the start, or since its address changed. */
  history(upstream: string): UpstreamHistory | null {
    return this.#histories.get(upstream) ?? null;
  }

  /** Forgets what is known of an upstream: another one has its name now. */
  forget(upstream: string): void {
    this.#histories.delete(upstream);
  }

  /** The newest refusal that left no record; null when there was none since the start. */
  get newestRefusal(): UnrecordedRefusal | null {
    return this.#newestRefusal;
  }

  #publish(entry: FeedEntry): void {
    for (const listener of this.#listeners) listener(entry);
  }
}
