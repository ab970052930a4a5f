import type { Secret } from "./secret.ts";

/** How the keys of both APIs begin; logins (`sk-ant-oat`, `sk-ant-ort`) are the tools' own business. */
const KEY_SHAPE = /(?<![\w-])sk-(?!ant-o[ar]t)[\w-]{20,}/g;

/** Names that keys are given: `ANTHROPIC_API_KEY`, `apiKey`, `x-api-key`, `COPILOT_PROVIDER_AUTH_TOKEN`. */
const KEY_NAME = /(?:api[_-]?key|(?<!o)auth[_-]?token)$/i;

/** As some write it in front of a key which is sent as a bearer token (RFC 6750 section 2.1). */
const SCHEME = /^Bearer\s+/i;

/** What tools want in a key's place when there is none, and how a value that stands elsewhere is named. */
const NO_KEY = /placeholder|dummy|example|tollkeeper|changeme|your[-_ ]|^tk-|^[$`~./<{]|:\/\//i;

const LEAST_LENGTH = 20;

/** A made-up value, `sk-xxxxxxxxxxxxxxxxxxxxxxxx`, has few characters. */
const LEAST_DISTINCT = 10;

/** Is a value a key, by itself and by the name that it has? null when it is none. */
export function judgeValue(name: string, value: string, own: readonly Secret[]): { isOwn: boolean } | null {
  if (own.some((secret) => secret.isIn(value))) return { isOwn: true };
  return keyIn(name, value) === null ? null : { isOwn: false };
}

/** The key in a value, by the key's shape or by the value's name: without what stands around it. null: there is none. */
export function keyIn(name: string, value: string): string | null {
  const shaped = [...value.matchAll(KEY_SHAPE)].map(([key]) => key).find(isSecretWord);
  if (shaped !== undefined) return shaped;
  const bare = value.replace(SCHEME, "");
  return KEY_NAME.test(name) && isSecretWord(bare) ? bare : null;
}

/** Is it as random as keys are, and none of the words that stand in a key's place? */
export function isSecretWord(value: string): boolean {
  return isRandom(value) && !isPlaceholder(value);
}

/** Does it say of itself that it is no secret, or that the secret stands elsewhere? */
export function isPlaceholder(value: string): boolean {
  return NO_KEY.test(value);
}

function isRandom(value: string): boolean {
  const isPlain = value.length >= LEAST_LENGTH && /^[\x21-\x7e]+$/.test(value);
  return isPlain && /\d/.test(value) && /[A-Za-z]/.test(value) && new Set(value).size >= LEAST_DISTINCT;
}
