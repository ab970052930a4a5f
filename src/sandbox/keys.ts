import { ApiError } from "./errors.ts";

/** A made-up key and the group of models that it may use. `secret` is what clients send. */
export interface SandboxKey {
  name: string;
  secret: string;
  group: string;
}

/** How a route expects its key. */
export type AuthScheme = "bearer" | "x-api-key";

export const DEFAULT_KEYS: readonly SandboxKey[] = [
  { name: "default", secret: "sk-sandbox-default", group: "all" },
  { name: "claude", secret: "sk-sandbox-claude", group: "claude" },
  { name: "gpt", secret: "sk-sandbox-gpt", group: "gpt" },
];

/** A request's headers, each with all its values. */
type HeaderValues = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * Returns the key that a request carries. It must use its route's auth scheme and no other.
 * @throws ApiError 401 for a missing, unknown or repeated key, or one in the wrong header
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
