import type { ApiRequest, ApiResponse } from "./api.ts";
import { ApiError } from "./errors.ts";

/** `GET /models`: lists the key's models in the shape of the profile. */
export function listModels({ models, profile, query }: ApiRequest): ApiResponse {
  return { body: profile.listModels(models, query) };
}

/** Requires that the key may use `model`. @throws ApiError with the status, message and code of the vendor */
export function requireModel({ models, vendor }: ApiRequest, model: string): void {
  if (models.includes(model)) return;
  switch (vendor) {
    case "anthropic":
      throw new ApiError(404, `model: ${model}`);
    case "openrouter":
      throw new ApiError(400, `${model} is not a valid model ID`);
    case "ollama":
      throw new ApiError(404, `model '${model}' not found`);
    case "openai": {
      const message = `The model \`${model}\` does not exist or you do not have access to it.`;
      throw new ApiError(404, message, { code: "model_not_found", param: "model" });
    }
  }
}
