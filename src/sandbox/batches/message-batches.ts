import { isObject, type JsonObject } from "../../core/json.ts";
import type { ApiRequest, ApiResponse, RouteState } from "../api.ts";
import { addBilled, attempt, NOTHING_BILLED } from "../batches.ts";
import { ApiError } from "../errors.ts";
import { idIn, listOf } from "../files.ts";
import type { StoredBatch } from "../files/storage.ts";
import { makeId } from "../ids.ts";
import { pickObjects } from "../json.ts";
import { createMessage } from "../messages.ts";

const PATH = "/messages/batches";
const DAY_MS = 24 * 60 * 60 * 1000;
const NO_COUNTS = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 };

/** `POST /messages/batches`: takes requests. The first look at the batch carries them out and bills them. */
export function createMessageBatch({ body, key }: ApiRequest, { storage }: RouteState): ApiResponse {
  const requests = pickObjects(body["requests"]);
  if (requests.length === 0) throw new ApiError(400, "requests: Field required");
  const id = makeId("msgbatch");
  const object = {
    id,
    type: "message_batch",
    processing_status: "in_progress",
    request_counts: { ...NO_COUNTS, processing: requests.length },
    ended_at: null,
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + DAY_MS).toISOString(),
    archived_at: null,
    cancel_initiated_at: null,
    results_url: null,
  };
  storage.messageBatches.keep(id, key.name, { object, requests, results: "" });
  return { body: object };
}

/** `GET /messages/batches`. */
export function listMessageBatches({ key }: ApiRequest, { storage }: RouteState): ApiResponse {
  return { body: listOf(storage.messageBatches.list(key.name).map(([, { object }]) => object)) };
}

/** `GET /messages/batches/{id}`. */
export function fetchMessageBatch(call: ApiRequest, state: RouteState): ApiResponse {
  const { batch, id } = findBatch(call, state);
  if (batch.requests === null) return { body: batch.object };
  const { requests } = batch;
  batch.requests = null;
  const sum = { ...NOTHING_BILLED };
  const counts = { ...NO_COUNTS };
  const lines = requests.map(({ custom_id, params }) => {
    const asked = isObject(params) ? params : {};
    const { status, body, billed } = attempt({ ...call, body: asked }, state, createMessage);
    addBilled(sum, billed);
    counts[status === 200 ? "succeeded" : "errored"] += 1;
    const result =
      status === 200
        ? { type: "succeeded", message: atBatchTier(body) }
        : { type: "errored", error: { type: "error", ...body } };
    return JSON.stringify({ custom_id, result });
  });
  batch.results = lines.map((line) => `${line}\n`).join("");
  end(batch, id, counts, call);
  return { body: batch.object, billed: sum };
}

/** `POST /messages/batches/{id}/cancel`: ends a batch before its requests are carried out. */
export function cancelMessageBatch(call: ApiRequest, state: RouteState): ApiResponse {
  const { batch, id } = findBatch(call, state);
  if (batch.requests === null) throw new ApiError(400, "The batch has ended.");
  const lines = batch.requests.map(({ custom_id }) =>
    JSON.stringify({ custom_id, result: { type: "canceled" } }),
  );
  batch.results = lines.map((line) => `${line}\n`).join("");
  batch.requests = null;
  end(batch, id, { ...NO_COUNTS, canceled: lines.length }, call);
  return { body: { ...batch.object, cancel_initiated_at: new Date().toISOString() } };
}

/** `DELETE /messages/batches/{id}`. */
export function deleteMessageBatch(call: ApiRequest, state: RouteState): ApiResponse {
  const { id } = findBatch(call, state);
  state.storage.messageBatches.remove(id);
  return { body: { id, type: "message_batch_deleted" } };
}

/** `GET /messages/batches/{id}/results`: returns a line for each request. */
export function fetchResults(call: ApiRequest, state: RouteState): ApiResponse {
  const { batch } = findBatch(call, state);
  if (batch.requests !== null) throw new ApiError(404, "The batch has no results yet.");
  return { bytes: Buffer.from(batch.results), type: "application/x-jsonl" };
}

/** The service names the place of the results by its own address. */
function end(batch: StoredBatch, id: string, counts: JsonObject, { profile }: ApiRequest): void {
  batch.object = {
    ...batch.object,
    processing_status: "ended",
    request_counts: counts,
    ended_at: new Date().toISOString(),
    results_url: `https://sandbox.invalid${profile.basePath}${PATH}/${id}/results`,
  };
}

function atBatchTier(message: JsonObject): JsonObject {
  const { usage } = message;
  return isObject(usage) ? { ...message, usage: { ...usage, service_tier: "batch" } } : message;
}

function findBatch(call: ApiRequest, { storage }: RouteState): { id: string; batch: StoredBatch } {
  const id = idIn(call, PATH);
  const batch = storage.messageBatches.find(id, call.key.name);
  if (batch === undefined) throw new ApiError(404, `Message batch ${id} not found`);
  return { id, batch };
}
