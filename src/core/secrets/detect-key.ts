import { isPlaceholder } from "./known-form.ts";
import type { Secret } from "./secret.ts";

/** The form of both APIs' keys. Excludes OAuth logins (`sk-ant-oat`, `sk-ant-ort`), which belong to the tools. */
const KEY_SHAPE = /(?<![\w-])sk-(?!ant-o[ar]t)[\w-]{20,}/g;

/** Names of keys: `ANTHROPIC_API_KEY`, `apiKey`, `x-api-key`, `COPILOT_PROVIDER_AUTH_TOKEN`. */
const KEY_NAME = /(?:api[_-]?key|(?<!o)auth[_-]?token)$/i;

/** The scheme that some people write in front of a bearer token (RFC 6750 section 2.1). */
const SCHEME = /^Bearer\s+/i;

const MIN_LENGTH = 20;

/** Made-up values, such as `sk-xxxxxxxxxxxxxxxxxxxxxxxx`, have fewer distinct characters. */
const MIN_DISTINCT = 10;

/** Detects a key by the value's form and its name. `isOwn` is true for one of `own`. Returns null when there is no key. */
export function detectKey(name: string, value: string, own: readonly Secret[]): { isOwn: boolean } | null {
  if (own.some((secret) => secret.isIn(value))) return { isOwn: true };
  return extractKey(name, value) === null ? null : { isOwn: false };
}

/** Extracts the key from a value, by the key's form or the value's name; null when there is none. */
export function extractKey(name: string, value: string): string | null {
  const key = [...value.matchAll(KEY_SHAPE)].map(([found]) => found).find(isLikelySecret);
  if (key !== undefined) return key;
  const bare = value.replace(SCHEME, "");
  return KEY_NAME.test(name) && isLikelySecret(bare) ? bare : null;
}

/** True when a value is as random as keys are, and not a placeholder. */
export function isLikelySecret(value: string): boolean {
  return isRandom(value) && !isPlaceholder(value);
}

function isRandom(value: string): boolean {
  const isPlain = value.length >= MIN_LENGTH && /^[\x21-\x7e]+$/.test(value);
  return isPlain && /\d/.test(value) && /[A-Za-z]/.test(value) && new Set(value).size >= MIN_DISTINCT;
}
