import { dayOf } from "./day.ts";
import type { UsageRecord } from "./record.ts";

/**
 * How a record counts in a report:
 * - `request`: the service did work for it, or may have; counts once, even with unknown usage
 * - `failed`: refused by tollkeeper, or by the service with a plain error; spent nothing
 * - `fetch`: fetched a response that another request created; the usage belongs to that request
 * - `free`: a route that never spends (model list, token counting)
 */
type SpendKind = "request" | "failed" | "fetch" | "free";

/** What of a record decides how it counts. */
type Spending = Pick<UsageRecord, "spend" | "usage" | "tokens" | "method" | "route" | "outcome" | "status">;

/**
 * `spend: "never"` alone does not make a record free: responses whose usage never arrived have it, too (docs/wire.md
 * section 8), and leaving those out would make every total silently too small.
 */
function classify(record: Spending): SpendKind {
  if (record.spend === "never" && (record.usage === "none" || record.tokens !== null)) return "free";
  if (record.spend !== "count" && !isCreation(record)) return "fetch";
  return record.tokens === null && !canHaveSpent(record) ? "failed" : "request";
}

/** True for a POST to a collection, which creates a response. `GET /responses/{id}` and `POST .../{id}/cancel` do not. */
function isCreation(record: Spending): boolean {
  return record.method === "POST" && !record.route.includes("{id}");
}

/**
 * False for a refusal, because nothing was sent, and for an error status of the service, because no model ran. Everything
 * else may have been billed: truncated responses, errors inside a stream, responses without usage, failed responses.
 */
function canHaveSpent({ outcome, status }: Spending): boolean {
  if (outcome === "rejected") return false;
  return !(outcome === "error" && status !== null && status >= 300);
}

/** True for a record whose request cannot have cost anything: it failed with a plain error, or its route never spends. */
export function hasSpentNothing(record: Spending): boolean {
  const kind = classify(record);
  return kind === "failed" || kind === "free";
}

/** A request that counts. `source` is the record with its best usage: itself, or a fetch of the response it created. */
export interface CountedRequest {
  record: UsageRecord;
  source: UsageRecord;
}

/**
 * Selects the records that count, each once. A background response counts for the request that created it, with the usage of
 * whichever record has the final one; its fetches add nothing (docs/wire.md section 6). A fetch whose creating request is not
 * among the records does not count: that request was before the period, or elsewhere.
 */
export class SpendTracker {
  #day = "";
  #idsOfDay = new Set<string>();
  readonly #created = new Set<string>();
  readonly #awaiting: UsageRecord[] = [];
  readonly #fetched = new Map<string, UsageRecord>();

  /** Adds the next record in the ledger's order. Returns `failed` if it spent nothing; null if it adds nothing, or not yet. */
  add(record: UsageRecord): CountedRequest | "failed" | null {
    if (this.#isCopy(record)) return null;
    const kind = classify(record);
    if (kind === "fetch") this.#keepFetched(record);
    if (kind !== "request") return kind === "failed" ? kind : null;
    if (record.spend !== "attach_by_response_id" || record.response_id === null) {
      return { record, source: record };
    }
    return this.#addCreation(record, record.response_id);
  }

  /** Returns the requests that waited for a fetch, each with the final usage when a fetch brought it. */
  flush(): CountedRequest[] {
    return this.#awaiting.map((record) => ({
      record,
      source: this.#fetched.get(record.response_id ?? "") ?? record,
    }));
  }

  /** Copies of a record have its `ts`, so they are on the same day. */
  #isCopy(record: UsageRecord): boolean {
    const day = dayOf(record.ts);
    if (day !== this.#day) {
      this.#day = day;
      this.#idsOfDay = new Set();
    }
    if (this.#idsOfDay.has(record.id)) return true;
    this.#idsOfDay.add(record.id);
    return false;
  }

  /** Only the few records that a fetch can complete are kept: memory must not grow with the ledger. */
  #addCreation(record: UsageRecord, responseId: string): CountedRequest | null {
    if (this.#created.has(responseId)) return null;
    this.#created.add(responseId);
    if (record.usage === "final") return { record, source: record };
    this.#awaiting.push(record);
    return null;
  }

  #keepFetched(record: UsageRecord): void {
    if (record.response_id !== null && record.usage === "final")
      this.#fetched.set(record.response_id, record);
  }
}
