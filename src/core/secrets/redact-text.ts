import { findAssignments } from "../text/assignments.ts";
import { isLikelySecret, extractKey } from "./detect-key.ts";
import { isPlaceholder, KNOWN_FORM } from "./known-form.ts";
import type { Secret } from "./secret.ts";

// Finds what to redact in a file before it is shown or copied: more than detect-key.ts, because too much does no harm.

/** Matches names under which a random value is a secret, but not `max_tokens` or `author`. */
const SECRET_NAME = /token(?!s)|secret|passw|passphrase|bearer|credential|cookie|auth(?!or(?!i[sz]))|key/i;

/** Matches names under which any value is a secret, because people's passwords are not random. */
const PASSWORD_NAME = /(?:password|passwd|passphrase|secret)$/i;

/** Shorter values are not redacted: see {@link Secret}. */
const MIN_PASSWORD_LENGTH = 8;

/** `Bearer SECRET` (RFC 6750) `Basic SECRET` (RFC 7617) and `AgentAssertion SECRET` of Codex, with a digit, which prose does not have there. */
const AFTER_SCHEME = /(?<=\b(?:bearer|basic|agentassertion)\s{1,20})(?=[\w.~+/-]*[\d=])[\w.~+/-]{8,}=*/gi;

/** `https://user:SECRET@host` (RFC 3986 section 3.2.1), and a user name that is itself a token. */
const PASSWORD_IN_URL = /(?<=:\/\/[^\s/:@"'?#]{0,80}:)[^\s/@"'?#]+(?=@)/g;
const USER_IN_URL = /(?<=:\/\/)[^\s/:@"'?#]{20,}(?=@)/g;

/** `?key=SECRET`, `&X-Amz-Signature=SECRET`. */
const IN_QUERY = /(?<=[?&][\w.-]{0,40}(?:key|token|secret|sig|signature|password|auth)=)[^\s&"'#]{8,}/gi;

/** Each matches the secret only, without the text that identifies it. */
export const PATTERNS = [KNOWN_FORM, AFTER_SCHEME, PASSWORD_IN_URL, USER_IN_URL, IN_QUERY];

/** Extracts the secrets from a value, by their form and by the value's name. */
export function extractSecrets(name: string, value: string): string[] {
  const found = PATTERNS.flatMap((pattern) => [...value.matchAll(pattern)].map(([secret]) => secret));
  return [...extractByName(name, value), ...found.filter((secret) => !isPlaceholder(secret))];
}

/** Replaces by asterisks every secret in `text` that looks like one or is among `known`. Keeps the length. */
export function redactSecrets(text: string, known: readonly Secret[]): string {
  const rest = known.reduce((redacted, secret) => secret.redactText(redacted), text);
  return rest.split("\n").map(redactLine).join("\n");
}

function redactLine(line: string): string {
  const named = extractByName("", line).reduce((text, secret) => text.replaceAll(secret, maskSecret), line);
  return PATTERNS.reduce((text, pattern) => text.replaceAll(pattern, maskSecret), named);
}

/** Looks two levels deep: a line may assign a value that itself holds assignments, such as a list of headers. */
function extractByName(name: string, value: string): string[] {
  const inside = findAssignments(value).flatMap((one) => [one, ...findAssignments(one.value)]);
  return [{ name, value }, ...inside].flatMap((one) => {
    const key = extractKey(one.name, one.value);
    // A command that prints a key, such as Claude Code's `apiKeyHelper`.
    const words = /helper$/i.test(one.name) ? one.value.split(/[\s"'=]+/).filter(isLikelySecret) : [];
    if (isSecretByName(one.name, one.value)) words.push(one.value);
    return key === null ? words : [key, ...words];
  });
}

function isSecretByName(name: string, value: string): boolean {
  if (isPlaceholder(value)) return false;
  if (PASSWORD_NAME.test(name)) return value.length >= MIN_PASSWORD_LENGTH && /\D/.test(value);
  return SECRET_NAME.test(name) && isLikelySecret(value);
}

function maskSecret(secret: string): string {
  return isPlaceholder(secret) ? secret : "*".repeat(secret.length);
}
