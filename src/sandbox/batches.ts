import { isObject, parseJson, type JsonObject } from "../core/json.ts";
import type { ApiRequest, ApiResponse, RouteState } from "./api.ts";
import { createChatCompletion } from "./chat.ts";
import { createCompletion } from "./completions.ts";
import { createEmbeddings } from "./embeddings.ts";
import { ApiError, missingParameter } from "./errors.ts";
import { idIn, listOf, seconds } from "./files.ts";
import type { StoredBatch } from "./files/storage.ts";
import { makeId } from "./ids.ts";
import { stringOrNull } from "./json.ts";
import { createResponse } from "./responses.ts";
import type { BilledTokens } from "./tally.ts";

/** What a batch may ask for, by the path of its requests. */
const ENDPOINTS: Readonly<Record<string, (call: ApiRequest, state: RouteState) => ApiResponse>> = {
  "/v1/responses": createResponse,
  "/v1/chat/completions": createChatCompletion,
  "/v1/completions": createCompletion,
  "/v1/embeddings": createEmbeddings,
};

export const NOTHING_BILLED: BilledTokens = {
  input_uncached: 0,
  cache_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
};

/** `POST /batches`: takes the requests of a file. The first look at the batch carries them out and bills them. */
export function createBatch({ body, key }: ApiRequest, { storage }: RouteState): ApiResponse {
  const [endpoint, input] = [stringOrNull(body["endpoint"]), stringOrNull(body["input_file_id"])];
  if (input === null) throw missingParameter("input_file_id");
  if (endpoint === null || ENDPOINTS[endpoint] === undefined) throw missingParameter("endpoint");
  const file = storage.files.find(input, key.name);
  if (file === undefined) throw new ApiError(400, `No such File object: ${input}`);
  const requests = readLines(file.bytes);
  const id = makeId("batch");
  const object = {
    id,
    object: "batch",
    endpoint,
    input_file_id: input,
    completion_window: stringOrNull(body["completion_window"]) ?? "24h",
    status: "validating",
    created_at: seconds(new Date()),
    request_counts: { total: requests.length, completed: 0, failed: 0 },
    metadata: isObject(body["metadata"]) ? body["metadata"] : null,
  };
  storage.batches.keep(id, key.name, { object, requests, results: "" });
  return { body: object };
}

/** `GET /batches`. */
export function listBatches({ key }: ApiRequest, { storage }: RouteState): ApiResponse {
  return { body: listOf(storage.batches.list(key.name).map(([, { object }]) => object)) };
}

/** `GET /batches/{id}`. */
export function fetchBatch(call: ApiRequest, state: RouteState): ApiResponse {
  const batch = findBatch(call, state);
  if (batch.requests === null) return { body: batch.object };
  const { requests } = batch;
  batch.requests = null;
  const endpoint = ENDPOINTS[String(batch.object["endpoint"])] ?? createResponse;
  const sum = { ...NOTHING_BILLED };
  const lines = requests.map((request) => {
    const { custom_id, body } = request;
    const asked = isObject(body) ? body : {};
    const { status, body: response, billed } = attempt({ ...call, body: asked }, state, endpoint);
    addBilled(sum, billed);
    return {
      id: makeId("batch_req"),
      custom_id,
      response: { status_code: status, request_id: makeId("req"), body: response },
      error: null,
    };
  });
  const completed = lines.filter(({ response }) => response.status_code === 200);
  const failed = lines.filter(({ response }) => response.status_code !== 200);
  const [first] = completed;
  batch.object = {
    ...batch.object,
    status: "completed",
    ...(completed.length > 0 && { output_file_id: keepLines("output", completed, call, state) }),
    ...(failed.length > 0 && { error_file_id: keepLines("error", failed, call, state) }),
    completed_at: seconds(new Date()),
    request_counts: { total: lines.length, completed: completed.length, failed: failed.length },
    model: first?.response.body["model"] ?? null,
    ...(!call.switches.noUsage && { usage: usageOf(sum) }),
  };
  return { body: batch.object, billed: sum };
}

/** Stores the responses to those requests that succeeded, or to those that failed. Returns the id of the file. */
function keepLines(
  what: "output" | "error",
  lines: readonly object[],
  { key }: ApiRequest,
  { storage }: RouteState,
): string {
  const id = makeId("file", "-");
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  storage.files.keep(id, key.name, {
    filename: `${what}.jsonl`,
    purpose: "batch_output",
    bytes,
    at: new Date(),
  });
  return id;
}

/** `POST /batches/{id}/cancel`: ends a batch before its requests are carried out. */
export function cancelBatch(call: ApiRequest, state: RouteState): ApiResponse {
  const batch = findBatch(call, state);
  if (batch.requests === null) throw new ApiError(400, "Cannot cancel a batch that has ended.");
  batch.requests = null;
  batch.object = {
    ...batch.object,
    status: "cancelled",
    cancelled_at: seconds(new Date()),
    usage: usageOf(NOTHING_BILLED),
  };
  return { body: { ...batch.object } };
}

/** Carries out one request of a batch. One that fails bills nothing. */
export function attempt(
  call: ApiRequest,
  state: RouteState,
  handle: (call: ApiRequest, state: RouteState) => ApiResponse,
): { status: number; body: JsonObject; billed: BilledTokens } {
  try {
    const result = handle(call, state);
    if (!("body" in result)) throw new ApiError(400, "a request of a batch cannot stream");
    return { status: 200, body: result.body, billed: result.billed ?? NOTHING_BILLED };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { message, code } = error;
    return {
      status: error.status,
      body: { error: { message, type: "invalid_request_error", code } },
      billed: NOTHING_BILLED,
    };
  }
}

export function addBilled(sum: BilledTokens, billed: BilledTokens): void {
  for (const kind of Object.keys(sum) as (keyof BilledTokens)[]) sum[kind] += billed[kind];
}

function findBatch(call: ApiRequest, { storage }: RouteState): StoredBatch {
  const id = idIn(call, "/batches");
  const batch = storage.batches.find(id, call.key.name);
  if (batch === undefined) throw new ApiError(404, `No batch found with id '${id}'.`);
  return batch;
}

function readLines(bytes: Buffer): JsonObject[] {
  return bytes
    .toString()
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const request = parseJson(line);
      if (!isObject(request)) throw new ApiError(400, "a line of the file is not a JSON object");
      return request;
    });
}

function usageOf({
  input_uncached: uncached,
  cache_read: read,
  output,
  reasoning,
}: BilledTokens): JsonObject {
  return {
    input_tokens: uncached + read,
    input_tokens_details: { cached_tokens: read },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: uncached + read + output,
  };
}
