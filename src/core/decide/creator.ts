import { BATCH_ACTIONS } from "../http/gemini/model-path.ts";
import { GOOGLE_DOWNLOAD, GOOGLE_ROOT, GOOGLE_STORES, GOOGLE_UPLOAD } from "../http/gemini/google-path.ts";
import type { UsageRecord } from "../ledger/record.ts";

/** Who created a stored object: the account that has it, as the record of its creation says. */
export interface Creator {
  tool: string;
  upstream: string;
  /** Name of the key. */
  key: string;
  /** The batch whose output it is; null for anything else. */
  batch: string | null;
}

/** The routes whose POST creates something that is stored under the id of the record. */
const COLLECTIONS: readonly string[] = ["/responses", "/files", "/uploads", "/batches", "/messages/batches"];

/** Google's. */
const GOOGLES: readonly string[] = [
  ...["files", "cachedContents", "batches", "interactions", "operations"].map((name) => GOOGLE_ROOT + name),
  GOOGLE_STORES,
];

/** The routes that create, and those that make a file of an upload. */
const CREATING: readonly string[] = [
  ...COLLECTIONS,
  ...GOOGLES,
  "/uploads/{id}/complete",
  `${GOOGLE_UPLOAD}files`,
  ...[...BATCH_ACTIONS, "predictLongRunning"].map((action) => `${GOOGLE_ROOT}models/{id}:${action}`),
];

/** What is done to their objects. */
const BELOW: readonly string[] = [
  ...COLLECTIONS,
  ...GOOGLES,
  `${GOOGLE_DOWNLOAD}files`,
  `${GOOGLE_UPLOAD}fileSearchStores`,
].map((path) => `${path}/{id}`);

/** An id that stands in a record as it stands in a path: no escape in either. Services have no others. */
const PLAIN_ID = /^[\w.:~-]{1,256}$/;

/** True for a path below a collection whose records say who created its objects: `/responses/{id}/cancel`. */
export function isOfKnownCollection(route: string): boolean {
  return BELOW.some((path) => route.startsWith(path));
}

/** True for an id that a record may have. */
export function mayBeRecorded(id: string): boolean {
  return PLAIN_ID.test(id);
}

/**
 * Returns which stored object a record tells of, and who created it: the one that its request created, or the output file of the batch that
 * it fetched. null for any other record.
 */
export function createdIn(
  record: Pick<UsageRecord, "method" | "route" | "response_id" | "output_file" | "tool" | "upstream" | "key">,
): { id: string; creator: Creator } | null {
  const { method, route, response_id: id, output_file: output, tool, upstream, key } = record;
  if (id === null) return null;
  if (method === "POST" && CREATING.includes(route))
    return { id, creator: { tool, upstream, key, batch: null } };
  return output === null ? null : { id: output, creator: { tool, upstream, key, batch: id } };
}
