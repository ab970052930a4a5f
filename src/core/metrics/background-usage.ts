import type { SummableRecord } from "../ledger/record.ts";
import { classify, type CountedRequest } from "../ledger/spend.ts";

/** How many background responses are remembered. A tool that polls has few under way. */
const MAX_RESPONSES = 200;

/** {@link BackgroundUsage} as data: by response id, the record that waits, `null` for one that has been counted. */
export type EncodedBackground = readonly (readonly [id: string, record: SummableRecord | null])[];

/**
 * Pairs the requests that create background responses with the fetches that bring their usage (`isBackground`), which ledger/background.ts
 * does for whole periods. Here each response counts once, when both are known; a counter cannot take back what it has counted.
 */
export class BackgroundUsage {
  /** The oldest first. */
  readonly #responses: Map<string, SummableRecord | null>;

  constructor(encoded: EncodedBackground = []) {
    this.#responses = new Map(encoded);
  }

  /** Adds a record of a background response, and returns what counts by now: at most two requests. */
  add(record: SummableRecord): CountedRequest[] {
    const { response_id: id } = record;
    if (id === null) return [];
    const other = this.#responses.get(id);
    if (other === null) return [];
    const counted = pair(record, other);
    this.#responses.delete(id);
    this.#responses.set(id, counted === null ? record : null);
    return [...(counted === null ? [] : [counted]), ...this.#forget()];
  }

  encode(): EncodedBackground {
    return [...this.#responses];
  }

  /** Forgets the oldest one beyond the limit. Its request counts as it is, without a usage; a fetch alone does not. */
  #forget(): CountedRequest[] {
    if (this.#responses.size <= MAX_RESPONSES) return [];
    const [[id, record] = ["", null]] = this.#responses;
    this.#responses.delete(id);
    return record === null || classify(record) === "fetch" ? [] : [{ record, source: record }];
  }
}

/** Returns what counts of a response; null while its request or its usage is missing. */
function pair(record: SummableRecord, other: SummableRecord | undefined): CountedRequest | null {
  const isFetch = classify(record) === "fetch";
  if (!isFetch && record.usage === "final") return { record, source: record };
  if (other === undefined || (classify(other) === "fetch") === isFetch) return null;
  return isFetch ? { record: other, source: record } : { record, source: other };
}
