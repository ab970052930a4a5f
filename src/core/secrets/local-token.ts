// Local tokens are `tollkeeper-TOOL-RANDOM`, for people to recognize them. proxy/token-secret.ts creates the random part.

const PREFIX = "tollkeeper-";

/** Length of 256 random bits in base64url. */
const RANDOM_LENGTH = 43;
const MAX_NAME_LENGTH = 64;
const MAX_LENGTH = PREFIX.length + MAX_NAME_LENGTH + 1 + RANDOM_LENGTH;

/** Returns the token of a tool. `random` is 256 bits in base64url. */
export function formatLocalToken(tool: string, random: string): string {
  return `${PREFIX}${tool}-${random}`;
}

/** True when `text` has the public form of a local token, registered or not. Does not look at the secret part. */
export function looksLikeLocalToken(text: string): boolean {
  return text.length <= MAX_LENGTH && text.startsWith(PREFIX);
}

const NAMED = String.raw`(${PREFIX}[a-z0-9._-]{1,${MAX_NAME_LENGTH}}-)`;
const TOKEN = new RegExp(String.raw`${NAMED}[\w-]{${RANDOM_LENGTH}}(?![\w-])`, "g");

/** A token, also one with something behind it: that is easily cut off again. */
const WITH_SUFFIX = new RegExp(String.raw`${NAMED}([\w-]{${RANDOM_LENGTH},})`, "g");

/** True when a text contains a local token, registered or not. The length check comes first, because nearly all texts are shorter. */
export function hasLocalToken(text: string): boolean {
  return text.length > PREFIX.length + RANDOM_LENGTH && text.search(WITH_SUFFIX) !== -1;
}

/** Returns every local token in a text, registered or not. */
export function findLocalTokens(text: string): string[] {
  return [...text.matchAll(TOKEN)].map(([token]) => token);
}

/** Replaces the secret part of every local token in `text`, and what is joined to it, by asterisks. */
export function redactLocalTokens(text: string): string {
  return text.replaceAll(WITH_SUFFIX, (_, named: string, rest: string) => named + "*".repeat(rest.length));
}
