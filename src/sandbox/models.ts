import type { ApiRequest, ApiResponse } from "./api.ts";
import { ApiError, type ApiFamily } from "./errors.ts";

/** Models that current tools request by default. */
const CLAUDE_MODELS = [
  "claude-fable-5",
  "claude-opus-5-5",
  "claude-opus-5",
  "claude-opus-4-8",
  "claude-sonnet-5-5",
  "claude-sonnet-5",
  "claude-sonnet-4-6",
  "claude-sonnet-4-5",
  "claude-sonnet-4-5-20250929",
  "claude-haiku-5",
  "claude-haiku-4-5",
  "claude-haiku-4-5-20251001",
];
const GPT_MODELS = [
  "gpt-6.1-sol",
  "gpt-5.6-sol",
  "gpt-5.6-luna",
  "gpt-5.5",
  "gpt-5.3-codex",
  "gpt-5.1",
  "gpt-5.1-codex",
  "gpt-5",
  "gpt-5-mini",
  "gpt-5-nano",
  "gpt-4.1",
];

export const DEFAULT_GROUPS: Readonly<Record<string, string[]>> = {
  all: [...CLAUDE_MODELS, ...GPT_MODELS],
  claude: CLAUDE_MODELS,
  gpt: GPT_MODELS,
};

/** The creation date of every model, which each API writes differently. */
const CREATED = new Date("2026-01-01T00:00:00Z");

/** `GET /models`: lists the key's models. Each entry has the fields of both APIs side by side. */
export function listModels({ models }: ApiRequest): ApiResponse {
  return {
    body: {
      object: "list",
      data: models.map((id) => ({
        id,
        object: "model",
        created: CREATED.getTime() / 1000,
        owned_by: "sandbox",
        type: "model",
        display_name: `${id} (sandbox)`,
        created_at: CREATED.toISOString(),
      })),
      has_more: false,
      first_id: models[0] ?? null,
      last_id: models.at(-1) ?? null,
    },
  };
}

/** Requires that the key may use `model`. @throws ApiError 404, with the message and code of the API */
export function requireModel(models: readonly string[], model: string, api: ApiFamily): void {
  if (models.includes(model)) return;
  if (api === "messages") throw new ApiError(404, `model: ${model}`);
  const message = `The model \`${model}\` does not exist or you do not have access to it.`;
  throw new ApiError(404, message, { code: "model_not_found", param: "model" });
}
