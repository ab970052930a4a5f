import type { SummableRecord } from "./record.ts";
import { betterFetch, classify, type CountedRequest } from "./spend.ts";

/**
 * Selects which records of background responses count (`isBackground`), each once, given in the ledger's order. A response counts for
 * the request that created it, with the usage of whichever record has the best; its fetches add nothing (docs/wire.md section 6).
 * A fetch whose creating request is not among the records does not count: that request was before the period, or elsewhere.
 */
export class BackgroundResponses {
  /** By response id. */
  readonly #created = new Map<string, SummableRecord>();
  readonly #fetched = new Map<string, SummableRecord>();

  add(record: SummableRecord): void {
    const { response_id: id } = record;
    if (id === null) return;
    const other = this.#fetched.get(id) ?? record;
    if (classify(record) === "fetch") this.#fetched.set(id, betterFetch(other, record));
    else if (!this.#created.has(id)) this.#created.set(id, record);
  }

  /** Returns the requests that count, each with its final usage if any record has it. */
  counted(): CountedRequest[] {
    return Array.from(this.#created, ([id, record]) => {
      const source = record.usage === "final" ? record : (this.#fetched.get(id) ?? record);
      return { record, source };
    });
  }
}
