import { BackgroundResponses } from "../background.ts";
import { CopyDetector } from "../copies.ts";
import type { SummableRecord, UsageRecord } from "../record.ts";
import { classify, isBackground, type CountedRequest } from "../spend.ts";
import { CacheBefore } from "./cache-before.ts";
import { UsualRequests } from "./usual-requests.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A request is compared with those of so many days before it. */
export const USUAL_DAYS = 7;

/** What explains a record besides itself, from the records around it: they are given in the ledger's order, those of {@link rangeOf}. */
export class Neighbours {
  readonly usual: UsualRequests;
  readonly cache: CacheBefore;
  readonly #record: UsageRecord;
  readonly #since: string;
  readonly #copies = new CopyDetector();
  readonly #background = new BackgroundResponses();
  readonly #attempts: SummableRecord[] = [];

  constructor(record: UsageRecord) {
    this.#record = record;
    this.#since = new Date(Date.parse(record.ts) - USUAL_DAYS * DAY_MS).toISOString();
    this.usual = new UsualRequests(record);
    this.cache = new CacheBefore(record);
  }

  add(other: SummableRecord): void {
    if (this.#copies.isCopy(other)) return;
    const { id, ts, response_id: response, attempt_of: attemptOf } = this.#record;
    const first = attemptOf ?? id;
    if (other.id === first || other.attempt_of === first) this.#attempts.push(other);
    const kind = classify(other);
    if (response !== null && other.response_id === response && isBackground(other, kind))
      this.#background.add(other);
    if (other.ts >= ts || other.ts < this.#since || kind !== "request" || other.id === id) return;
    this.usual.add(other);
    this.cache.add(other);
  }

  /** Returns the records of all attempts at the request, the first one first. Most requests have one. */
  attempts(): readonly SummableRecord[] {
    return this.#attempts.toSorted((one, other) => compareText(one.ts, other.ts));
  }

  /** Returns the background response that the record is about: what created it, and the record with its usage. null for any other. */
  background(): CountedRequest | null {
    return this.#background.counted()[0] ?? null;
  }
}

/** Returns the times between which other records explain one: in milliseconds since 1970. */
export function rangeOf({ ts }: Pick<UsageRecord, "ts">): { since: number; until: number } {
  const at = Date.parse(ts);
  return { since: at - USUAL_DAYS * DAY_MS, until: at + DAY_MS };
}

function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
