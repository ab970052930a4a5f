import { WEB_PAGE } from "../usage/reading.ts";
import { isOfUpstream } from "../refusals/of-upstream.ts";
import type { SummableRecord } from "./record.ts";

/**
 * How a record counts in a report:
 * - `request`: the service did work for it, or may have; counts once, even with unknown usage
 * - `failed`: refused by tollkeeper, or by the service with a plain error; spent nothing
 * - `fetch`: fetched a response that another request created; the usage belongs to that request
 * - `free`: a route that never spends (model list, token counting)
 */
type SpendKind = "request" | "failed" | "fetch" | "free";

/** What of a record decides how it counts. */
type Spending = Pick<
  SummableRecord,
  "spend" | "usage" | "tokens" | "method" | "route" | "outcome" | "status" | "flags" | "response_id"
>;

/**
 * `spend: "never"` alone does not make a record free: responses whose usage never arrived have it, too (docs/wire.md
 * section 8), and leaving those out would make every total silently too small.
 */
export function classify(record: Spending): SpendKind {
  if (record.spend === "never" && (record.usage === "none" || record.tokens !== null)) return "free";
  if (record.spend !== "count" && !isCreation(record)) return "fetch";
  return record.tokens === null && !canHaveSpent(record) ? "failed" : "request";
}

/** What is asked of a model at Google: there the id is the model's. */
const OF_MODEL = "/v1beta/models/{id}:";

/** What puts a file into a store at Google, once the response names the operation that indexes it: a step of an upload does not. */
const INDEXES = /:(?:importFile|uploadToFileSearchStore)$/;

/**
 * True for a POST to a collection, or to a model, which creates a response, and for one that has a file indexed. `GET /responses/{id}` and
 * `POST .../{id}/cancel` do not. A PATCH has a cached content stored for longer.
 */
function isCreation({ method, route, response_id: id }: Spending): boolean {
  if (method === "PATCH") return true;
  if (method !== "POST") return false;
  return !route.includes("{id}") || route.startsWith(OF_MODEL) || (id !== null && INDEXES.test(route));
}

/**
 * False for a refusal, because nothing was sent, and for an error status of the service or a web page in its place, because no
 * model ran. Everything else may have been billed: truncated responses, errors inside a stream, responses without usage, failed
 * responses.
 */
function canHaveSpent({ outcome, status, flags }: Spending): boolean {
  if (outcome === "rejected") return false;
  return !(outcome === "error" && ((status !== null && status >= 300) || flags.includes(WEB_PAGE)));
}

/**
 * True for a request that tollkeeper refused: by a group, a brake, a budget or a pause, for want of a key or a token, or as malformed. False
 * for one that got a response of tollkeeper's own because its upstream failed.
 */
export function isRefused({
  outcome,
  error_type: type,
}: Pick<SummableRecord, "outcome" | "error_type">): boolean {
  return outcome === "rejected" && !isOfUpstream(type);
}

/** Ways in which a request did not complete: it failed, its response was cut short, or tollkeeper refused it. */
const NOT_COMPLETED = ["failed", "cut", "refused"] as const;

type NotCompleted = (typeof NOT_COMPLETED)[number];

/** What people look for in lists of requests: those that did not complete in one way, in any way (`problem`), or that missed the cache. */
export const SOUGHT = [...NOT_COMPLETED, "problem", "missed"] as const;

export type Sought = (typeof SOUGHT)[number];

/** True for a request that is one of those. */
export function isSought(
  record: Pick<SummableRecord, "outcome" | "error_type" | "miss">,
  sought: Sought,
): boolean {
  if (sought === "missed") return record.miss !== null;
  const how = howNotCompleted(record);
  return sought === "problem" ? how !== null : how === sought;
}

/** Returns how a request did not complete; null for one that did, and for one of which that is not known. */
export function howNotCompleted(record: Pick<SummableRecord, "outcome" | "error_type">): NotCompleted | null {
  if (isRefused(record)) return "refused";
  if (record.outcome === "cut") return "cut";
  return FAILURES.has(record.outcome) ? "failed" : null;
}

/** Also of a request for which there was no response of the service. */
const FAILURES: ReadonlySet<string> = new Set(["error", "failed", "rejected"]);

/** True for the outcome of a request that failed. One that counts all the same has failed midway: the service may have done work for it. */
export function isFailure(outcome: string): boolean {
  return FAILURES.has(outcome);
}

/** True for a record whose request cannot have cost anything: it failed with a plain error, or its route never spends. */
export function hasSpentNothing(record: Spending): boolean {
  const kind = classify(record);
  return kind === "failed" || kind === "free";
}

/**
 * True for a record that counts, or not, by other records: the creation of a background response, whose usage a later fetch may bring,
 * and a fetch that brings it. `kind` is how the record counts.
 */
export function isBackground(record: SummableRecord, kind: SpendKind): boolean {
  if (record.response_id === null) return false;
  if (kind === "fetch") return record.usage === "final";
  return kind === "request" && record.spend === "attach_by_response_id";
}

/** A request that counts. `source` is the record with its best usage: itself, or a fetch of the response it created. */
export interface CountedRequest {
  record: SummableRecord;
  source: SummableRecord;
}

/**
 * Returns which of two fetches of the same response counts: of a batch, the one that tells the sizes of its prompts, by which they are priced;
 * else the later one.
 */
export function betterFetch(earlier: SummableRecord, later: SummableRecord): SummableRecord {
  return hasSizes(earlier) && !hasSizes(later) ? earlier : later;
}

/** True for a record that says how large the prompts are that its usage is the sum of. */
export function hasSizes({ largest_prompt: largest }: SummableRecord): boolean {
  return largest !== null;
}
