import { betterFetch, classify, hasSizes, isBackground, type CountedRequest } from "../ledger/spend.ts";
import type { SummableRecord } from "../ledger/record.ts";
import { SUMMED } from "../usage/reading.ts";

/** How many records of background responses wait for one another, of each kind: the oldest then waits no longer. */
const MAX_WAITING = 1_000;

/** A change of what counts: a request that counts from now on, or no longer. */
interface CountChange {
  request: CountedRequest;
  sign: 1n | -1n;
}

/**
 * Tells which requests count, record by record, in any order. The creation of a background response counts at once; the fetch that brings
 * its usage replaces it. So does, of a batch, the fetch that tells the sizes of its prompts. The same sum comes out as from
 * `BackgroundResponses`, which needs all records at once.
 */
export class BackgroundCounts {
  /** Creations without usage, and fetches whose creation is not known, by the id of the response. */
  readonly #creations = new Map<string, SummableRecord>();
  readonly #fetches = new Map<string, SummableRecord>();
  /** Batches that count by their sum, until a fetch tells the sizes of their prompts. */
  readonly #summed = new Map<string, CountedRequest>();

  /** Returns what changes with a record. */
  add(record: SummableRecord): readonly CountChange[] {
    const kind = classify(record);
    if (!isBackground(record, kind)) return kind === "request" ? [counted({ record, source: record })] : [];
    return kind === "fetch" ? this.#addFetch(record) : this.#addCreation(record);
  }

  /** Returns the records that wait, for {@link restore}. */
  waiting(): SummableRecord[] {
    const summed = [...this.#summed.values()].flatMap(({ record, source }) => [record, source]);
    return [...this.#creations.values(), ...this.#fetches.values(), ...summed];
  }

  /** Takes over records that wait, which have been counted. */
  restore(records: readonly SummableRecord[]): void {
    this.#creations.clear();
    this.#fetches.clear();
    this.#summed.clear();
    for (const record of records) this.add(record);
  }

  #addFetch(fetch: SummableRecord): readonly CountChange[] {
    const id = fetch.response_id ?? "";
    const creation = this.#creations.get(id);
    const summed = this.#summed.get(id);
    if (creation !== undefined) {
      this.#creations.delete(id);
      return this.#replace({ record: creation, source: creation }, fetch);
    }
    if (summed === undefined) keep(this.#fetches, id, betterFetch(this.#fetches.get(id) ?? fetch, fetch));
    else if (hasSizes(fetch)) {
      this.#summed.delete(id);
      return this.#replace(summed, fetch);
    }
    return [];
  }

  #addCreation(creation: SummableRecord): readonly CountChange[] {
    const id = creation.response_id ?? "";
    if (creation.usage === "final") return [counted({ record: creation, source: creation })];
    const fetch = this.#fetches.get(id);
    if (fetch === undefined) {
      keep(this.#creations, id, creation);
      return [counted({ record: creation, source: creation })];
    }
    this.#fetches.delete(id);
    return [this.#count(creation, fetch)];
  }

  #replace(request: CountedRequest, fetch: SummableRecord): readonly CountChange[] {
    return [{ request, sign: -1n }, this.#count(request.record, fetch)];
  }

  #count(record: SummableRecord, source: SummableRecord): CountChange {
    const request = { record, source };
    if (source.flags.includes(SUMMED) && !hasSizes(source))
      keep(this.#summed, record.response_id ?? "", request);
    return counted(request);
  }
}

function counted(request: CountedRequest): CountChange {
  return { request, sign: 1n };
}

function keep<Value>(waiting: Map<string, Value>, id: string, value: Value): void {
  waiting.set(id, value);
  const [oldest] = waiting.keys();
  if (waiting.size > MAX_WAITING && oldest !== undefined) waiting.delete(oldest);
}
