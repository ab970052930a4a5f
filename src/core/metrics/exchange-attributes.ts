import type { Api } from "../http/api.ts";
import { guessApi } from "../http/routes.ts";
import type { SummableRecord } from "../ledger/record.ts";
import type { Attributes } from "./metric.ts";

// Names of attributes: those of OpenTelemetry's conventions for generative AI
// (https://github.com/open-telemetry/semantic-conventions-genai), and our own for what has none.
const OPERATION = "gen_ai.operation.name";
const PROVIDER = "gen_ai.provider.name";
export const REQUEST_MODEL = "gen_ai.request.model";
export const RESPONSE_MODEL = "gen_ai.response.model";
export const TOKEN_MODALITY = "gen_ai.token.modality";
export const ERROR_TYPE = "error.type";
export const TOOL = "tollkeeper.tool";
export const UPSTREAM = "tollkeeper.upstream";
const API = "tollkeeper.api";
export const OUTCOME = "tollkeeper.outcome";
export const COUNTED_AS = "tollkeeper.counted_as";
export const USAGE = "tollkeeper.usage";
export const CERTAINTY = "tollkeeper.certainty";

/**
 * `gen_ai.operation.name` by route: the conventions' value where there is one (the Responses API is `chat` there, too). Any other
 * route is `other`, because configurations may add routes.
 */
const OPERATIONS: Readonly<Record<string, string>> = {
  "POST /messages": "chat",
  "POST /responses": "chat",
  "POST /chat/completions": "chat",
  "POST /completions": "text_completion",
  "POST /embeddings": "embeddings",
  "GET /responses/{id}": "fetch_response",
  "POST /messages/count_tokens": "count_tokens",
  "GET /models": "list_models",
  "POST /v1beta/models/{id}:generateContent": "generate_content",
  "POST /v1beta/models/{id}:streamGenerateContent": "generate_content",
  "POST /v1beta/models/{id}:countTokens": "count_tokens",
  "POST /v1beta/models/{id}:embedContent": "embeddings",
  "POST /v1beta/models/{id}:batchEmbedContents": "embeddings",
  "GET /v1beta/models": "list_models",
  "POST /model/{id}/invoke": "chat",
  "POST /model/{id}/invoke-with-response-stream": "chat",
  "POST /model/{id}/converse": "chat",
  "POST /model/{id}/converse-stream": "chat",
  "POST /model/{id}/count-tokens": "count_tokens",
};

/**
 * `gen_ai.provider.name` by API. The conventions want the provider whose format is spoken, which may be another one than the one
 * that serves: a gateway with OpenAI's API is `openai`. `tollkeeper.upstream` says who serves.
 */
const PROVIDERS: Readonly<Record<Api, string>> = {
  messages: "anthropic",
  responses: "openai",
  chat: "openai",
  gemini: "gcp.gemini",
  bedrock: "aws.bedrock",
};

/** Statuses that tell errors of a service apart. Others would only add series. */
const STATUSES: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529,
]);

const ERRORS: ReadonlySet<string> = new Set(["error", "failed", "cut", "rejected"]);

/** What of a record is told by its route. */
export interface Kind {
  api: Api;
  operation: string;
}

/** Returns the API and the operation of a record. */
export function kindOf({ method, route }: Pick<SummableRecord, "method" | "route">): Kind {
  const key = `${method} ${route}`;
  return {
    api: guessApi(route),
    operation: Object.hasOwn(OPERATIONS, key) ? String(OPERATIONS[key]) : "other",
  };
}

/** Returns the attributes of an operation. */
export function describeKind({ api, operation }: Kind): Attributes {
  return { [OPERATION]: operation, [PROVIDER]: PROVIDERS[api], [API]: api };
}

/**
 * Returns `error.type` of a record, one of a few words: the status of an error response, or else the outcome. null when it did not
 * end in an error.
 */
export function errorTypeOf({ outcome, status }: Pick<SummableRecord, "outcome" | "status">): string | null {
  if (!ERRORS.has(outcome)) return null;
  if (outcome !== "error" || status === null || status < 400) return outcome;
  return STATUSES.has(status) ? String(status) : "_OTHER";
}
