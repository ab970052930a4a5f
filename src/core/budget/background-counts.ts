import { classify, isBackground, type CountedRequest } from "../ledger/spend.ts";
import type { SummableRecord } from "../ledger/record.ts";

/** How many records of background responses wait for one another, of each kind: the oldest then waits no longer. */
const MAX_WAITING = 1_000;

/** A change of what counts: a request that counts from now on, or no longer. */
interface CountChange {
  request: CountedRequest;
  sign: 1n | -1n;
}

/**
 * Tells which requests count, record by record, in any order. The creation of a background response counts at once; the fetch that brings
 * its usage replaces it. The same sum comes out as from `BackgroundResponses`, which needs all records at once.
 */
export class BackgroundCounts {
  /** Creations without usage, and fetches whose creation is not known, by the id of the response. */
  readonly #creations = new Map<string, SummableRecord>();
  readonly #fetches = new Map<string, SummableRecord>();

  /** Returns what changes with a record. */
  add(record: SummableRecord): readonly CountChange[] {
    const kind = classify(record);
    if (!isBackground(record, kind)) return kind === "request" ? [counted(record, record)] : [];
    return kind === "fetch" ? this.#addFetch(record) : this.#addCreation(record);
  }

  /** Returns the records that wait, for {@link restore}. */
  waiting(): SummableRecord[] {
    return [...this.#creations.values(), ...this.#fetches.values()];
  }

  /** Takes over records that wait, which have been counted. */
  restore(records: readonly SummableRecord[]): void {
    this.#creations.clear();
    this.#fetches.clear();
    for (const record of records) this.add(record);
  }

  #addFetch(fetch: SummableRecord): readonly CountChange[] {
    const id = fetch.response_id ?? "";
    const creation = this.#creations.get(id);
    if (creation === undefined) {
      keep(this.#fetches, id, fetch);
      return [];
    }
    this.#creations.delete(id);
    return [{ request: { record: creation, source: creation }, sign: -1n }, counted(creation, fetch)];
  }

  #addCreation(creation: SummableRecord): readonly CountChange[] {
    const id = creation.response_id ?? "";
    if (creation.usage === "final") return [counted(creation, creation)];
    const fetch = this.#fetches.get(id);
    if (fetch === undefined) keep(this.#creations, id, creation);
    else this.#fetches.delete(id);
    return [counted(creation, fetch ?? creation)];
  }
}

function counted(record: SummableRecord, source: SummableRecord): CountChange {
  return { request: { record, source }, sign: 1n };
}

function keep(records: Map<string, SummableRecord>, id: string, record: SummableRecord): void {
  records.set(id, record);
  const [oldest] = records.keys();
  if (records.size > MAX_WAITING && oldest !== undefined) records.delete(oldest);
}
