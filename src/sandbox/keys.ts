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

/** Returns a request's key. @throws ApiError 401 for a missing, unknown or repeated key, or one in the wrong header */
export function findKey(headers: HeaderValues, scheme: AuthScheme, keys: readonly SandboxKey[]): SandboxKey {
  const isBearer = scheme === "bearer";
  const other = isBearer ? "x-api-key" : "authorization";
  if (headers[other] !== undefined) throw unauthorized(`this route does not accept the ${other} header`);
  const value = onlyValue(headers, isBearer ? "authorization" : "x-api-key");
  const secret = isBearer ? /^Bearer (\S+)$/i.exec(value)?.[1] : value;
  if (secret === undefined) throw unauthorized("the authorization header must be: Bearer KEY");
  const key = keys.find((candidate) => candidate.secret === secret);
  if (key === undefined) throw unauthorized("the sandbox does not know this key");
  return key;
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
