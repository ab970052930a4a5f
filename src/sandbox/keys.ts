import { ApiError, type Dialect } from "./errors.ts";

/** A made-up key: who it is for, what a client sends, and which group of models it may use. */
export interface SandboxKey {
  name: string;
  secret: string;
  group: string;
}

/** How a route wants its key. */
export type AuthScheme = "bearer" | "x-api-key";

/** Names that current tools ask for when nobody chose a model. */
const CLAUDE_MODELS = [
  "claude-fable-5",
  "claude-opus-5-5",
  "claude-opus-5",
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

export const DEFAULT_KEYS: readonly SandboxKey[] = [
  { name: "default", secret: "sk-sandbox-default", group: "all" },
  { name: "claude", secret: "sk-sandbox-claude", group: "claude" },
  { name: "gpt", secret: "sk-sandbox-gpt", group: "gpt" },
];

/** A request's headers, each with all the values that it came with. */
export type HeaderValues = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * The key that a request carries in its route's own way and in no other (the service's section 5).
 * @throws ApiError 401 for a missing, wrong, doubled or wrongly carried key
 */
export function findKey(headers: HeaderValues, scheme: AuthScheme, keys: readonly SandboxKey[]): SandboxKey {
  const secret = scheme === "bearer" ? bearerSecret(headers) : apiKeySecret(headers);
  const key = keys.find((candidate) => candidate.secret === secret);
  if (key === undefined) throw unauthorized(`this key is unknown to the sandbox`);
  return key;
}

function bearerSecret(headers: HeaderValues): string {
  if (headers["x-api-key"] !== undefined) throw unauthorized("this route takes no x-api-key header");
  const secret = /^Bearer (\S+)$/i.exec(onlyValue(headers, "authorization"))?.[1];
  if (secret === undefined) throw unauthorized("the authorization header must read: Bearer KEY");
  return secret;
}

function apiKeySecret(headers: HeaderValues): string {
  if (headers["authorization"] !== undefined) throw unauthorized("this route takes no authorization header");
  return onlyValue(headers, "x-api-key");
}

function onlyValue(headers: HeaderValues, name: string): string {
  const [value, ...others] = headers[name] ?? [];
  if (value === undefined) throw unauthorized(`the ${name} header is missing`);
  if (others.length > 0) throw unauthorized(`the ${name} header came more than once`);
  return value;
}

function unauthorized(message: string): ApiError {
  return new ApiError(401, message, { code: "invalid_api_key" });
}

/**
 * Holds a request to its key's group of models.
 * @throws ApiError 404, worded and coded as the API of `dialect` does
 */
export function requireModel(models: readonly string[], model: string, dialect: Dialect): void {
  if (models.includes(model)) return;
  if (dialect === "messages") throw new ApiError(404, `model: ${model}`);
  const message = `The model \`${model}\` does not exist or you do not have access to it.`;
  throw new ApiError(404, message, { code: "model_not_found", param: "model" });
}
