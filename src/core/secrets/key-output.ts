import { KeyFailure } from "../failure.ts";
import { isObject, parseJson, type JsonObject } from "../json.ts";
import { MAX_KEY_LENGTH, parseApiKey } from "./api-key.ts";
import { AwsKeys } from "./aws-keys.ts";
import type { Secret } from "./secret.ts";

// What key commands print. No failure repeats any of it.

/** RFC 3339 section 5.6, which Kubernetes prints. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** Three parts in base64url (RFC 7515 section 3.1). The third is empty in an unsigned one. */
const JWT = /^[\w-]+\.([\w-]+)\.[\w-]*$/;

/** A greater `exp` counts milliseconds: in seconds it would be after the year 5000. */
const MAX_EXP_SECONDS = 1e11;

/** The latest time of a Date, in milliseconds. */
const MAX_TIME_MS = 8.64e15;

/**
 * Returns the key that a command printed, with the time at which it expires if the output says so. The output is an `ExecCredential`
 * of Kubernetes (client.authentication.k8s.io/v1), or the key on its first line. A JSON Web Token says itself when it expires
 * (RFC 7519 section 4.1.4). Of two times the earlier one counts. Throws a Failure for anything else.
 */
export function parseKeyOutput(text: string): Secret {
  const whole = text.trim();
  const json = whole.startsWith("{") ? parseJson(whole) : undefined;
  if (isObject(json)) return readObject(json);
  const [line = ""] = text.split("\n", 1);
  return parseApiKey(line, jwtExpiry(line.trim()));
}

/** Letters and digits, as IAM's documents say. */
const ACCESS_KEY_ID = /^\w{16,128}$/;

/** Base64, or what AWS may use in its place. A header has to carry the session token. */
const AWS_SECRET = /^[\x21-\x7e]{1,8192}$/;

/**
 * Returns the access keys that a command printed as JSON for AWS's `credential_process`, with the time at which they expire
 * (https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html). Throws a Failure for anything else.
 */
export function parseAwsKeys(text: string): AwsKeys {
  const json = parseJson(text.trim());
  const printed = isObject(json) ? json : {};
  const [id, secret] = [printed["AccessKeyId"], printed["SecretAccessKey"]];
  const { SessionToken: token = null, Expiration: stated = null } = printed;
  if (typeof id !== "string" || !ACCESS_KEY_ID.test(id) || !isAwsSecret(secret))
    throw unusable(
      "did not print AWS access keys, which sign requests",
      'have it print the JSON of credential_process: {"Version": 1, "AccessKeyId": ..., "SecretAccessKey": ...}',
    );
  if (token !== null && !isAwsSecret(token))
    throw unusable('printed AWS access keys whose "SessionToken" is not valid', "try it in a terminal");
  if (stated === null)
    return new AwsKeys({ accessKeyId: id, secretAccessKey: secret, sessionToken: token }, null);
  const expiresAt = readTime(stated);
  if (expiresAt === null)
    throw unusable(
      'printed AWS access keys whose "Expiration" is not a time',
      "have it print a time such as 2026-01-31T12:00:00Z, or none",
    );
  return new AwsKeys({ accessKeyId: id, secretAccessKey: secret, sessionToken: token }, expiresAt);
}

function isAwsSecret(value: unknown): value is string {
  return typeof value === "string" && AWS_SECRET.test(value);
}

function readTime(stated: unknown): number | null {
  const time = typeof stated === "string" && TIME.test(stated) ? Date.parse(stated) : NaN;
  return Number.isNaN(time) ? null : time;
}

function readObject(json: JsonObject): Secret {
  if (json["kind"] === "ExecCredential") return readExecCredential(json["status"]);
  // The form of credential_process: https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html
  if (Object.hasOwn(json, "AccessKeyId") || Object.hasOwn(json, "SecretAccessKey"))
    throw unusable(
      "printed AWS access keys, which sign requests and cannot be sent as a key",
      'have it print an API key of Amazon Bedrock instead, or add "auth": "sigv4" to the upstream',
    );
  throw unusable(
    "printed JSON of a form that tollkeeper does not know",
    "have it print only the key, on one line",
  );
}

function readExecCredential(status: unknown): Secret {
  const { token, expirationTimestamp: stated = null } = isObject(status) ? status : {};
  if (typeof token !== "string")
    throw unusable(
      'printed an ExecCredential without "status.token"',
      "have it print a token; certificates are not supported",
    );
  const own = jwtExpiry(token.trim());
  if (stated === null) return parseApiKey(token, own);
  const expiresAt = readTime(stated);
  if (expiresAt === null)
    throw unusable(
      'printed an ExecCredential whose "status.expirationTimestamp" is not a time',
      "have it print a time such as 2026-01-31T12:00:00Z, or none",
    );
  return parseApiKey(token, Math.min(expiresAt, own ?? Infinity));
}

/**
 * Returns when a JSON Web Token expires, in milliseconds since 1970; null for any other key, and for a token that states no usable time.
 * Nothing is verified: that is up to the upstream, and a wrong time only has the command run too often or too late.
 */
function jwtExpiry(key: string): number | null {
  const [, payload] = key.length > MAX_KEY_LENGTH ? [] : (JWT.exec(key) ?? []);
  if (payload === undefined) return null;
  const claims = parseJson(Buffer.from(payload, "base64url").toString("utf8"));
  const exp = isObject(claims) ? claims["exp"] : null;
  if (typeof exp !== "number" || exp <= 0) return null;
  const expiresAt = Math.floor(exp > MAX_EXP_SECONDS ? exp : exp * 1000);
  return expiresAt > MAX_TIME_MS ? null : expiresAt;
}

function unusable(what: string, hint: string): KeyFailure {
  return new KeyFailure("unavailable", `the key command ${what}`, hint);
}
