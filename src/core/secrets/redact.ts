import { findAssignments } from "../text/assignments.ts";
import { isPlaceholder, isSecretWord, keyIn } from "./key-shape.ts";
import type { Secret } from "./secret.ts";

/*
 * What is blotted out of a file before it is shown, or kept elsewhere. Wider than what is told to be a key: one asterisk
 * too many costs nothing.
 */

/** Parts of names under which a random value is a secret; `max_tokens` and `author` are no such names. */
const SECRET_NAME = /token(?!s)|secret|passw|passphrase|bearer|credential|cookie|auth(?!or(?!i[sz]))|key/i;

/** Names under which any value is one. People choose passwords, and not at random. */
const PASSWORD_NAME = /(?:password|passwd|passphrase|secret)$/i;

/** A shorter value is not blotted: see {@link Secret}. */
const LEAST_PASSWORD = 8;

/**
 * How secrets begin by themselves, whatever their names: keys of APIs, logins, JSON Web Tokens (RFC 7519), and what GitHub,
 * GitLab, Hugging Face, npm, Slack, Google, Groq, xAI, Perplexity and Nvidia give out.
 */
const KNOWN_SHAPE =
  /(?<![\w-])(?:sk-(?=[\w-]*\d)[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(?:gh[oprsu]_|github_pat_|glpat-|hf_|npm_|xox[abeprs]-|AIza|ya29\.|gsk_|xai-|pplx-|nvapi-)[\w.-]{16,})/g;

/** `Authorization: Bearer SECRET` (RFC 6750), `Basic` (RFC 7617); prose has no digits there. */
const BEHIND_SCHEME = /(?<=\b(?:bearer|basic)\s{1,20})(?=[\w.~+/-]*[\d=])[\w.~+/-]{8,}=*/gi;

/** `https://user:SECRET@host` (RFC 3986 section 3.2.1), and a user that is a token by itself. */
const PASSWORD_IN_URL = /(?<=:\/\/[^\s/:@"'?#]{0,80}:)[^\s/@"'?#]+(?=@)/g;
const USER_OF_URL = /(?<=:\/\/)[^\s/:@"'?#]{20,}(?=@)/g;

/** `?key=SECRET`, `&X-Amz-Signature=SECRET`. */
const IN_QUERY = /(?<=[?&][\w.-]{0,40}(?:key|token|secret|sig|signature|password|auth)=)[^\s&"'#]{8,}/gi;

/** Each finds the secret alone, without what it is known by. */
const PATTERNS = [KNOWN_SHAPE, BEHIND_SCHEME, PASSWORD_IN_URL, USER_OF_URL, IN_QUERY];

/** What is secret in a value, by itself and by the name that it has. */
export function secretsIn(name: string, value: string): string[] {
  const found = PATTERNS.flatMap((pattern) => [...value.matchAll(pattern)].map(([secret]) => secret));
  return [...secretsByName(name, value), ...found.filter((secret) => !isPlaceholder(secret))];
}

/** `text` with everything in it replaced by asterisks that is secret, or known to be; its length is kept. */
export function redactSecrets(text: string, known: readonly Secret[]): string {
  const rest = known.reduce((blotted, secret) => secret.redactText(blotted), text);
  return rest.split("\n").map(blotLine).join("\n");
}

function blotLine(line: string): string {
  const named = secretsByName("", line).reduce((text, secret) => text.replaceAll(secret, starsFor), line);
  return PATTERNS.reduce((text, pattern) => text.replaceAll(pattern, starsFor), named);
}

/** A value may hold some by itself, as one of headers does; a line of a file may hold such a value. */
function secretsByName(name: string, value: string): string[] {
  const inside = findAssignments(value).flatMap((one) => [one, ...findAssignments(one.value)]);
  return [{ name, value }, ...inside].flatMap((one) => {
    const key = keyIn(one.name, one.value);
    // A command that prints a key, as Claude Code has one in `apiKeyHelper`.
    const words = /helper$/i.test(one.name) ? one.value.split(/[\s"'=]+/).filter(isSecretWord) : [];
    if (isSecretByName(one.name, one.value)) words.push(one.value);
    return key === null ? words : [key, ...words];
  });
}

function isSecretByName(name: string, value: string): boolean {
  if (isPlaceholder(value)) return false;
  if (PASSWORD_NAME.test(name)) return value.length >= LEAST_PASSWORD && /\D/.test(value);
  return SECRET_NAME.test(name) && isSecretWord(value);
}

function starsFor(secret: string): string {
  return isPlaceholder(secret) ? secret : "*".repeat(secret.length);
}
