import { dayOf } from "./day.ts";
import type { UsageRecord } from "./record.ts";

/**
 * What a record is to a report:
 * - `request`: it made the service work, or may have; counts once, and where its usage is unknown it says so
 * - `failed`: refused here, or answered by the service with a plain error; spent nothing
 * - `fetch`: asked for a response that another request created; its usage belongs to that request alone
 * - `free`: a route that never spends (model list, token counting)
 */
type Standing = "request" | "failed" | "fetch" | "free";

/**
 * The rules, in order. `spend: "never"` alone does not make a record free: an answer whose usage never came is marked so
 * too (shared facts, usage.md section 2, "Cut streams"), and leaving it out would make every total silently too small.
 */
function standingOf(record: UsageRecord): Standing {
  if (record.spend === "never" && (record.usage === "none" || record.tokens !== null)) return "free";
  if (record.spend !== "count" && !isCreation(record)) return "fetch";
  return record.tokens === null && !canHaveSpent(record) ? "failed" : "request";
}

/** Responses are created by a POST to a collection; `GET /responses/{id}` and `POST .../{id}/cancel` only ask. */
function isCreation(record: UsageRecord): boolean {
  return record.method === "POST" && !record.route.includes("{id}");
}

/**
 * An answer of tollkeeper's own means that nothing was sent. An error status from the service means that no model ran.
 * Anything else may have been billed: cut answers, errors inside a stream, answers without usage, a failed response.
 */
function canHaveSpent({ outcome, status }: UsageRecord): boolean {
  if (outcome === "rejected") return false;
  return !(outcome === "error" && status !== null && status >= 300);
}

/** A request that counts, and the record that knows its usage best: itself, or a fetch of the response it created. */
export interface SpentRequest {
  record: UsageRecord;
  source: UsageRecord;
}

/**
 * Sorts records into those that count, each once. A background response is counted on the request that created it,
 * with the usage of whichever record had the final word; fetches of it, however many, add nothing (shared facts,
 * usage.md section 1.2). A fetch without its creation in the records given is not counted: it spent before, or elsewhere.
 */
export class SpendSorter {
  #day = "";
  #idsOfDay = new Set<string>();
  readonly #attached = new Set<string>();
  readonly #awaiting: UsageRecord[] = [];
  readonly #fetched = new Map<string, UsageRecord>();

  /**
   * Takes the next record in the ledger's order, by UTC day (copies of a record share its `ts`, so its day). Returns the
   * request if it counts as it stands, `failed` for one that spent nothing, null for what adds nothing yet or ever.
   */
  take(record: UsageRecord): SpentRequest | "failed" | null {
    if (this.#isCopy(record)) return null;
    const standing = standingOf(record);
    if (standing === "fetch") this.#keepFetched(record);
    if (standing !== "request") return standing === "failed" ? standing : null;
    if (record.spend !== "attach_by_response_id" || record.response_id === null) {
      return { record, source: record };
    }
    return this.#attach(record, record.response_id);
  }

  /** The requests held back for a later fetch, each with its final usage where a fetch brought it. */
  rest(): SpentRequest[] {
    return this.#awaiting.map((record) => ({
      record,
      source: this.#fetched.get(record.response_id ?? "") ?? record,
    }));
  }

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

  /** Only these are held back, the few that a fetch can complete: memory must not grow with the ledger. */
  #attach(record: UsageRecord, responseId: string): SpentRequest | null {
    if (this.#attached.has(responseId)) return null;
    this.#attached.add(responseId);
    if (record.usage === "final") return { record, source: record };
    this.#awaiting.push(record);
    return null;
  }

  #keepFetched(record: UsageRecord): void {
    if (record.response_id !== null && record.usage === "final")
      this.#fetched.set(record.response_id, record);
  }
}
