import { readGooglePath } from "../../core/http/gemini/google-path.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ApiRequest, ApiResponse, RouteState } from "../api.ts";
import { addBilled, attempt, NOTHING_BILLED } from "../batches.ts";
import { ApiError } from "../errors.ts";
import type { StoredBatch } from "../files/storage.ts";
import { embedContent, generateContent, modelIn } from "../gemini.ts";
import { makeId } from "../ids.ts";
import { pickObjects } from "../json.ts";

/** `:batchGenerateContent` and `:asyncBatchEmbedContent`, with their requests in the body. The first look at the batch carries them out. */
export function createGoogleBatch(call: ApiRequest, { storage }: RouteState): ApiResponse {
  const { body, path, key } = call;
  const model = modelIn(call);
  const batch = isObject(body["batch"]) ? body["batch"] : {};
  const input = isObject(batch["inputConfig"]) ? batch["inputConfig"] : {};
  const requests = pickObjects(isObject(input["requests"]) ? input["requests"]["requests"] : null);
  if (requests.length === 0)
    throw new ApiError(400, "* BatchGenerateContentRequest.batch.input_config: required");
  const id = makeId("b", "-");
  const at = new Date().toISOString();
  const name = `batches/${id}`;
  const object = {
    name,
    metadata: {
      model: `models/${model}`,
      displayName: batch["displayName"] ?? "",
      name,
      createTime: at,
      updateTime: at,
      state: "BATCH_STATE_PENDING",
      batchStats: { requestCount: String(requests.length), pendingRequestCount: String(requests.length) },
    },
  };
  const asked = requests.map(({ request, metadata }) => ({ request, metadata, path }));
  storage.googleBatches.keep(id, key.name, { object, requests: asked, results: "" });
  return { body: object };
}

/** `GET /v1beta/batches`. */
export function listGoogleBatches({ key }: ApiRequest, { storage }: RouteState): ApiResponse {
  const operations = storage.googleBatches.list(key.name).map(([, { object }]) => object);
  return { body: operations.length > 0 ? { operations } : {} };
}

/** `GET /v1beta/batches/{id}`: has the results twice, as the service does. */
export function fetchGoogleBatch(call: ApiRequest, state: RouteState): ApiResponse {
  const { batch } = findBatch(call, state);
  if (batch.requests === null) return { body: batch.object };
  const { requests } = batch;
  batch.requests = null;
  const sum = { ...NOTHING_BILLED };
  const results = requests.map(({ request, metadata, path }) => {
    const body = isObject(request) ? request : {};
    const handle = String(path).includes("mbedContent") ? embedContent : generateContent;
    const single = String(path).replace(
      /:\w+$/,
      handle === embedContent ? ":embedContent" : ":generateContent",
    );
    const { status, body: response, billed } = attempt({ ...call, body, path: single }, state, handle);
    addBilled(sum, billed);
    const outcome = status === 200 ? { response } : { error: { code: 3, message: "invalid request" } };
    return { ...outcome, ...(isObject(metadata) && { metadata }) };
  });
  const output = { inlinedResponses: { inlinedResponses: results } };
  const about = isObject(batch.object["metadata"]) ? batch.object["metadata"] : {};
  batch.object = {
    ...batch.object,
    metadata: { ...about, state: "BATCH_STATE_SUCCEEDED", output },
    done: true,
    response: output,
  };
  return { body: batch.object, billed: sum };
}

/** `POST /v1beta/batches/{id}:cancel`: ends a batch before its requests are carried out. */
export function cancelGoogleBatch(call: ApiRequest, state: RouteState): ApiResponse {
  const { batch } = findBatch(call, state);
  const about: JsonObject = isObject(batch.object["metadata"]) ? batch.object["metadata"] : {};
  if (batch.requests !== null)
    batch.object = { ...batch.object, metadata: { ...about, state: "BATCH_STATE_CANCELLED" }, done: true };
  batch.requests = null;
  return { body: {} };
}

/** `DELETE /v1beta/batches/{id}`. */
export function deleteGoogleBatch(call: ApiRequest, state: RouteState): ApiResponse {
  state.storage.googleBatches.remove(findBatch(call, state).id);
  return { body: {} };
}

function findBatch({ path, key }: ApiRequest, { storage }: RouteState): { id: string; batch: StoredBatch } {
  const id = readGooglePath(path)?.id ?? "";
  const batch = storage.googleBatches.find(id, key.name);
  if (batch === undefined) throw new ApiError(404, `Batch ${id} not found.`);
  return { id, batch };
}
