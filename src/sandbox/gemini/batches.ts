import { readGooglePath } from "../../core/http/gemini/google-path.ts";
import { isObject, parseJson, type JsonObject } from "../../core/json.ts";
import type { ApiRequest, ApiResponse, RouteState } from "../api.ts";
import { addBilled, attempt, NOTHING_BILLED } from "../batches.ts";
import { ApiError } from "../errors.ts";
import type { StoredBatch } from "../files/storage.ts";
import { embedContent, generateContent, modelIn } from "../gemini.ts";
import { makeId } from "../ids.ts";
import { pickObjects } from "../json.ts";

/**
 * `:batchGenerateContent` and `:asyncBatchEmbedContent`, with their requests in the body or in a file. The first look at the batch carries them
 * out.
 */
export function createGoogleBatch(call: ApiRequest, state: RouteState): ApiResponse {
  const { storage } = state;
  const { body, path, key } = call;
  const model = modelIn(call);
  const batch = isObject(body["batch"]) ? body["batch"] : {};
  const input = isObject(batch["inputConfig"]) ? batch["inputConfig"] : {};
  const isInFile = typeof input["fileName"] === "string";
  const requests = isInFile
    ? readLines(String(input["fileName"]), call, state)
    : pickObjects(isObject(input["requests"]) ? input["requests"]["requests"] : null);
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
  const asked = requests.map(({ request, metadata, key: line }) => ({
    request,
    metadata,
    path,
    line,
    isInFile,
  }));
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
  const results = requests.map(({ request, metadata, path, line, isInFile }) => {
    const body = isObject(request) ? request : {};
    const handle = String(path).includes("mbedContent") ? embedContent : generateContent;
    const single = String(path).replace(
      /:\w+$/,
      handle === embedContent ? ":embedContent" : ":generateContent",
    );
    const { status, body: response, billed } = attempt({ ...call, body, path: single }, state, handle);
    addBilled(sum, billed);
    const outcome = status === 200 ? { response } : { error: { code: 3, message: "invalid request" } };
    return isInFile === true
      ? { key: line, ...outcome }
      : { ...outcome, ...(isObject(metadata) && { metadata }) };
  });
  const output = requests.some(({ isInFile }) => isInFile === true)
    ? { responsesFile: keepLines(results, call, state) }
    : { inlinedResponses: { inlinedResponses: results } };
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

/** Reads the requests of a file: a line for each, `{"key", "request"}`. @throws ApiError 400 for a file that is not stored */
function readLines(name: string, { key }: ApiRequest, { storage }: RouteState): JsonObject[] {
  const file = storage.googleFiles.find(name.replace(/^files\//, ""), key.name);
  if (file === undefined) throw new ApiError(400, `File ${name} not found.`);
  return pickObjects(file.bytes.toString().split("\n").map(parseJson));
}

/** Stores a line for each result, and returns the name of the file. */
function keepLines(results: readonly object[], { key }: ApiRequest, { storage }: RouteState): string {
  const id = makeId("batch", "-");
  const bytes = Buffer.from(results.map((result) => `${JSON.stringify(result)}\n`).join(""));
  storage.googleFiles.keep(id, key.name, {
    displayName: null,
    mimeType: "application/jsonl",
    bytes,
    at: new Date(),
  });
  return `files/${id}`;
}

function findBatch({ path, key }: ApiRequest, { storage }: RouteState): { id: string; batch: StoredBatch } {
  const id = readGooglePath(path)?.id ?? "";
  const batch = storage.googleBatches.find(id, key.name);
  if (batch === undefined) throw new ApiError(404, `Batch ${id} not found.`);
  return { id, batch };
}
