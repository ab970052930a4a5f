import type { ApiRequest, ApiResponse, RouteState } from "../api.ts";
import { ApiError } from "../errors.ts";
import { makeId } from "../ids.ts";
import { toUnfinished } from "./response.ts";

/** `GET /responses/{id}`: returns a response that was created with the same key. The first fetch finishes and bills a queued one. */
export function fetchResponse(call: ApiRequest, state: RouteState): ApiResponse {
  const stored = findStored(call, state);
  const billed = stored.unbilled;
  stored.unbilled = null;
  return { body: stored.response, ...(billed !== null && { billed }) };
}

/** `POST /responses/{id}/cancel`: ends a queued response, for which nothing is billed then. */
export function cancelResponse(call: ApiRequest, state: RouteState): ApiResponse {
  const stored = findStored(call, state);
  if (stored.response["background"] !== true)
    throw new ApiError(400, "Cannot cancel a synchronous response.");
  if (stored.unbilled !== null) {
    stored.unbilled = null;
    stored.response = { ...toUnfinished(stored.response, "queued"), status: "cancelled" };
  }
  return { body: stored.response };
}

/** `DELETE /responses/{id}`: the response is not found from then on. */
export function deleteResponse(call: ApiRequest, state: RouteState): ApiResponse {
  const { id } = findStored(call, state).response;
  state.responses.remove(id);
  return { body: { id, object: "response", deleted: true } };
}

/** `GET /responses/{id}/input_items`: lists what was put in, the newest first. */
export function listInputItems(call: ApiRequest, state: RouteState): ApiResponse {
  const { input } = findStored(call, state);
  const data = input.map((item) => ({ id: makeId("msg"), type: "message", ...item })).toReversed();
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return { body: { object: "list", data, ...ends, has_more: false } };
}

function findStored({ path, key, profile }: ApiRequest, { responses }: RouteState) {
  const [id = ""] = path.slice(`${profile.basePath}/responses/`.length).split("/");
  const stored = responses.find(id, key.name);
  if (stored === undefined) throw new ApiError(404, `Response with id '${id}' not found.`);
  return stored;
}
