import type { ApiRequest, ApiResponse } from "./api.ts";
import { ApiError } from "./errors.ts";
import { pickObjects } from "./json.ts";
import { BEDROCK_MODELS, GEMINI_MODELS, listForCodex } from "./model-lists.ts";

/** The version of the list that Codex gets. */
const ETAG = 'W/"sandbox-1"';

/** `GET /models`: lists the key's models in the shape of the profile, or for Codex in its own. */
export function listModels({ models, profile, query }: ApiRequest): ApiResponse {
  return query.has("client_version") && profile.vendor === "openai"
    ? { body: listForCodex(models, query), headers: { etag: ETAG } }
    : { body: profile.listModels(models, query) };
}

/** `GET /models/{id}`: returns the model's entry in the list. */
export function fetchModel(call: ApiRequest): ApiResponse {
  const { path, profile } = call;
  const model = decodeURIComponent(path.slice(`${profile.basePath}/models/`.length));
  requireModel(call, model);
  const [entry = {}] = pickObjects(profile.listModels([model], new URLSearchParams())["data"]);
  return { body: entry };
}

/** Requires that the key may use `model`. @throws ApiError with the status, message and code of the vendor */
export function requireModel({ models, vendor }: Pick<ApiRequest, "models" | "vendor">, model: string): void {
  const own = vendor === "bedrock" ? BEDROCK_MODELS : models;
  if ((vendor === "google" ? GEMINI_MODELS : own).includes(model)) return;
  switch (vendor) {
    case "anthropic":
      throw new ApiError(404, `model: ${model}`);
    case "openrouter":
      throw new ApiError(400, `${model} is not a valid model ID`);
    case "ollama":
      throw new ApiError(404, `model '${model}' not found`);
    case "bedrock":
      throw new ApiError(400, "The provided model identifier is invalid.");
    case "google":
      throw new ApiError(404, `models/${model} is not found for API version v1beta.`);
    case "openai": {
      const message = `The model \`${model}\` does not exist or you do not have access to it.`;
      throw new ApiError(404, message, { code: "model_not_found", param: "model" });
    }
  }
}
