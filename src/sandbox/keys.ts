import { ApiError } from "./errors.ts";

/** A made-up key and the group of models that it may use. `secret` is what clients send. */
export interface SandboxKey {
  name: string;
  secret: string;
  group: string;
}

/** How a route expects its key. A route with `none` responds to everyone. */
export type AuthScheme = "bearer" | "x-api-key" | "x-goog-api-key" | "none";

export const DEFAULT_KEYS: readonly SandboxKey[] = [
  { name: "default", secret: "sk-sandbox-default", group: "all" },
  { name: "claude", secret: "sk-sandbox-claude", group: "claude" },
  { name: "gpt", secret: "sk-sandbox-gpt", group: "gpt" },
];

/** Stand for the key of a request that needs none: it brought none, or one that the sandbox does not know. */
const NO_KEY: SandboxKey = { name: "none", secret: "", group: "all" };
const UNKNOWN_KEY: SandboxKey = { name: "unknown", secret: "", group: "all" };

/** A request's headers, each with all its values. */
type HeaderValues = Readonly<Record<string, readonly string[] | undefined>>;

/** The headers in which clients send a key. */
const HEADERS = ["authorization", "x-api-key", "x-goog-api-key"] as const;

/** Returns a request's key. @throws ApiError 401, and 400 at Google, for a missing, unknown or repeated key, or one in the wrong header */
export function findKey(headers: HeaderValues, scheme: AuthScheme, keys: readonly SandboxKey[]): SandboxKey {
  if (scheme === "none") return findOptionalKey(headers, keys);
  const isBearer = scheme === "bearer";
  const own = isBearer ? "authorization" : scheme;
  const other = HEADERS.find((name) => name !== own && headers[name] !== undefined);
  if (other !== undefined) throw unauthorized(`this route does not accept the ${other} header`);
  const value = onlyValue(headers, own);
  const secret = isBearer ? bearerSecret(value) : value;
  if (secret === undefined) throw unauthorized("the authorization header must be: Bearer KEY");
  const key = keys.find((candidate) => candidate.secret === secret);
  if (key === undefined && scheme === "x-goog-api-key")
    throw new ApiError(400, "API key not valid. Please pass a valid API key.", { code: "API_KEY_INVALID" });
  if (key === undefined) throw unauthorized("the sandbox does not know this key");
  return key;
}

/** Names the key in the books even where none is needed, so that a test sees whether one was sent. */
function findOptionalKey(headers: HeaderValues, keys: readonly SandboxKey[]): SandboxKey {
  const value = headers["authorization"]?.[0] ?? headers["x-api-key"]?.[0];
  if (value === undefined) return NO_KEY;
  const secret = bearerSecret(value) ?? value;
  return keys.find((candidate) => candidate.secret === secret) ?? UNKNOWN_KEY;
}

function bearerSecret(value: string): string | undefined {
  return /^Bearer (\S+)$/i.exec(value)?.[1];
}

function onlyValue(headers: HeaderValues, name: string): string {
  const [value, ...others] = headers[name] ?? [];
  if (value === undefined) throw unauthorized(`the ${name} header is missing`);
  if (others.length > 0) throw unauthorized(`the ${name} header was sent more than once`);
  return value;
}

function unauthorized(message: string): ApiError {
  return new ApiError(401, message, { code: "invalid_api_key" });
}
