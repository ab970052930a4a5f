import type { JsonObject } from "../core/json.ts";

/** Models that current tools request by default. */
export const CLAUDE_MODELS: readonly string[] = [
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
export const GPT_MODELS: readonly string[] = [
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
export const EMBEDDING_MODELS: readonly string[] = ["text-embedding-3-small", "text-embedding-3-large"];
/** Those of Google's API, which has a list of its own. */
export const GEMINI_MODELS: readonly string[] = [
  "gemini-3.6-flash",
  "gemini-3.5-flash",
  "gemini-3.1-pro-preview",
  "gemini-3.1-flash-lite",
  "gemini-3-pro-preview",
  "gemini-3-flash-preview",
  "gemini-2.5-pro",
  "gemini-2.5-flash",
  "gemini-2.5-flash-lite",
  "gemini-3.8-live",
  "gemini-embedding-2",
];
/** Those of Amazon Bedrock, which has no list: inference profiles, and the models of their maker. */
export const BEDROCK_MODELS: readonly string[] = ["", "us.", "eu.", "global."].flatMap((region) => [
  `${region}anthropic.claude-sonnet-4-6`,
  `${region}anthropic.claude-sonnet-4-5-20250929-v1:0`,
  `${region}anthropic.claude-haiku-4-5-20251001-v1:0`,
  `${region}amazon.nova-lite-v1:0`,
]);
/** For images, speech and transcripts. */
export const MEDIA_MODELS: readonly string[] = [
  "gpt-image-1",
  "dall-e-2",
  "gpt-4o-mini-tts",
  "gpt-4o-transcribe",
  "whisper-1",
];
/** As `ollama list` names them. */
export const LOCAL_MODELS: readonly string[] = [
  "qwen3-coder:30b",
  "qwen3:8b",
  "llama3.2:latest",
  "gpt-oss:20b",
  "nomic-embed-text:latest",
];
/** A broker's names: the vendor, a slash, the model. */
export const BROKERED_MODELS: readonly string[] = [
  ...CLAUDE_MODELS.map((name) => `anthropic/${name}`),
  ...GPT_MODELS.map((name) => `openai/${name}`),
  ...EMBEDDING_MODELS.map((name) => `openai/${name}`),
  "qwen/qwen3-coder",
  "meta-llama/llama-3.2-3b-instruct:free",
];

/** The creation date of every model, which each vendor writes differently. */
const CREATED = new Date("2026-01-01T00:00:00Z");
const CREATED_SECONDS = CREATED.getTime() / 1000;

/** Entries of a page of Anthropic's list without `limit` (Anthropic's documentation, "List Models"). */
const PAGE_SIZE = 20;

/** Writes the list of a key's models. */
export type ModelList = (models: readonly string[], query: URLSearchParams) => JsonObject;

/** Each entry and the list itself have the fields of both SDK families side by side. */
export const listForBoth: ModelList = (models) => ({
  object: "list",
  data: models.map((id) => ({ ...openaiEntry(id, "sandbox"), ...anthropicEntry(id) })),
  has_more: false,
  first_id: models[0] ?? null,
  last_id: models.at(-1) ?? null,
});

/** One page, of at most `limit` entries after `after_id` or before `before_id`. */
export const listForAnthropic: ModelList = (models, query) => {
  const limit = Number(query.get("limit") ?? PAGE_SIZE);
  const [after, before] = [query.get("after_id"), query.get("before_id")];
  const rest =
    before === null ? models.slice(indexOf(models, after) + 1) : models.slice(0, indexOf(models, before));
  const page = before === null ? rest.slice(0, limit) : rest.slice(-limit);
  return {
    data: page.map(anthropicEntry),
    has_more: page.length < rest.length,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  };
};

export const listForOpenai: ModelList = (models) => ({
  object: "list",
  data: models.map((id) => openaiEntry(id, id.startsWith("gpt-") ? "openai" : "system")),
});

export const listForOllama: ModelList = (models) => ({
  object: "list",
  data: models.map((id) => openaiEntry(id, "library")),
});

/** The fields that OpenRouter's documentation promises ("Models API Standard"). Every model is free. */
export const listForOpenrouter: ModelList = (models) => ({
  data: models.map((id) => ({
    id,
    canonical_slug: id,
    name: `${id} (sandbox)`,
    created: CREATED_SECONDS,
    description: "A made-up model of the sandbox.",
    context_length: 200_000,
    architecture: {
      modality: "text->text",
      input_modalities: ["text"],
      output_modalities: ["text"],
      tokenizer: "Other",
      instruct_type: null,
    },
    pricing: { prompt: "0", completion: "0" },
    top_provider: { context_length: 200_000, max_completion_tokens: 32_000, is_moderated: false },
    per_request_limits: null,
    supported_parameters: ["max_tokens", "tools", "tool_choice", "response_format", "reasoning"],
  })),
});

/** Codex's own list, with the members that it requires (openai/codex, codex-rs/protocol/src/openai_models.rs, `ModelInfo`). */
export const listForCodex: ModelList = (models) => ({
  models: models
    .filter((id) => id.startsWith("gpt-"))
    .map((slug, index) => ({
      slug,
      display_name: `${slug} (sandbox)`,
      description: "A made-up model of the sandbox.",
      default_reasoning_level: "medium",
      supported_reasoning_levels: ["low", "medium", "high"].map((effort) => ({
        effort,
        description: effort,
      })),
      shell_type: "shell_command",
      visibility: "list",
      supported_in_api: true,
      priority: index,
      upgrade: null,
      base_instructions: "You are a made-up model.",
      supports_reasoning_summaries: true,
      support_verbosity: true,
      default_verbosity: "medium",
      apply_patch_tool_type: "freeform",
      truncation_policy: { mode: "tokens", limit: 10_000 },
      supports_parallel_tool_calls: true,
      context_window: 272_000,
      experimental_supported_tools: [],
    })),
});

function openaiEntry(id: string, owner: string): JsonObject {
  return { id, object: "model", created: CREATED_SECONDS, owned_by: owner };
}

function anthropicEntry(id: string): JsonObject {
  return { type: "model", id, display_name: `${id} (sandbox)`, created_at: CREATED.toISOString() };
}

/** Returns the position of `id`, -1 for null or an unknown one. */
function indexOf(models: readonly string[], id: string | null): number {
  return id === null ? -1 : models.indexOf(id);
}
