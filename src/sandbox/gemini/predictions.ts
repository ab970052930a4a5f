import { readGooglePath } from "../../core/http/gemini/google-path.ts";
import { asCount, asObject } from "../../core/usage/fields.ts";
import type { ApiRequest, ApiResponse, RouteState } from "../api.ts";
import { ApiError } from "../errors.ts";
import { createMessage } from "../messages.ts";
import { makeId } from "../ids.ts";

/** A picture of one pixel, as base64 (PNG). */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** More pictures than Imagen makes at once are one. */
const MOST_PICTURES = 8;

/** `:predict`: as many pictures as the request asks for. It has no usage. */
export function predict({ body }: ApiRequest): ApiResponse {
  const { sampleCount } = asObject(body["parameters"]);
  const count = asCount(sampleCount) ?? 1;
  const picture = { mimeType: "image/png", bytesBase64Encoded: PIXEL };
  return { body: { predictions: Array.from({ length: count > MOST_PICTURES ? 1 : count }, () => picture) } };
}

/** `:rawPredict` and `:streamRawPredict` of Anthropic's models: the Messages API, with the model in the path and the version in the body. */
export function predictRaw(call: ApiRequest, state: RouteState): ApiResponse {
  const { body, path } = call;
  if (typeof body["anthropic_version"] !== "string")
    throw new ApiError(400, "anthropic_version: Field required");
  if (body["model"] !== undefined) throw new ApiError(400, "model: Extra inputs are not permitted");
  const model = readGooglePath(path)?.named?.model ?? "";
  return createMessage({ ...call, body: { ...body, model } }, state);
}

/** `:predictLongRunning`: begins a film. Each is finished by the first look at it. */
export function predictLater({ path, key }: ApiRequest, { storage }: RouteState): ApiResponse {
  const id = makeId("op", "-");
  const name = `models/${readGooglePath(path)?.named?.model ?? ""}/operations/${id}`;
  storage.operations.keep(id, key.name, name);
  return { body: { name } };
}

/** `GET /v1beta/models/{id}/operations/{id}`. */
export function fetchOperation({ path, key }: ApiRequest, { storage }: RouteState): ApiResponse {
  const name = storage.operations.find(readGooglePath(path)?.id ?? "", key.name);
  if (name === undefined) throw new ApiError(404, "Operation not found.");
  const uri = "https://generativelanguage.googleapis.com/v1beta/files/film:download?alt=media";
  const response = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } };
  return { body: { name, done: true, response } };
}
