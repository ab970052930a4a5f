import { findAssignments } from "./assignments.ts";
import type { Secret } from "./secret.ts";

/** How the keys of both APIs begin; logins (`sk-ant-oat`, `sk-ant-ort`) are the tools' own business. */
const KEY_SHAPE = /(?<![\w-])sk-(?!ant-o[ar]t)[\w-]{20,}/g;

/** What nobody else may see either: those logins, and JSON Web Tokens (RFC 7519) as other logins are. */
const LOGIN_SHAPE = /(?<![\w-])(?:sk-ant-o[ar]t[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})/g;

/** Names that keys are given: `ANTHROPIC_API_KEY`, `apiKey`, `x-api-key`, `COPILOT_PROVIDER_AUTH_TOKEN`. */
const KEY_NAME = /(?:api[_-]?key|(?<!o)auth[_-]?token)$/i;

/** What tools want in a key's place when there is none, and how a value that stands elsewhere is named. */
const NO_KEY = /placeholder|dummy|example|tollkeeper|changeme|your[-_ ]|^tk-|^[$`~./<{]|:\/\//i;

const LEAST_LENGTH = 20;

/** A made-up value, `sk-xxxxxxxxxxxxxxxxxxxxxxxx`, has few characters. */
const LEAST_DISTINCT = 10;

/** Is a value a key, by itself and by the name that it has? null when it is none. */
export function judgeValue(name: string, value: string, own: readonly Secret[]): { isOwn: boolean } | null {
  if (own.some((secret) => secret.isIn(value))) return { isOwn: true };
  const isKey = hasKeyShape(value) || isKeyByName(name, value);
  return isKey ? { isOwn: false } : null;
}

/** `text` with every key and login in it replaced by asterisks, its length kept: what may be shown, or kept elsewhere. */
export function blotKeys(text: string): string {
  return text.split("\n").map(blotLine).join("\n");
}

function blotLine(line: string): string {
  const named = findAssignments(line).filter(({ name, value }) => isKeyByName(name, value));
  const rest = named.reduce((text, { value }) => text.replaceAll(value, starsFor(value)), line);
  return rest.replaceAll(KEY_SHAPE, blotUnlessNone).replaceAll(LOGIN_SHAPE, blotUnlessNone);
}

function blotUnlessNone(found: string): string {
  return isRandom(found) && !NO_KEY.test(found) ? starsFor(found) : found;
}

function starsFor(text: string): string {
  return "*".repeat(text.length);
}

function hasKeyShape(text: string): boolean {
  return [...text.matchAll(KEY_SHAPE)].some(([key]) => isRandom(key) && !NO_KEY.test(key));
}

function isKeyByName(name: string, value: string): boolean {
  return KEY_NAME.test(name) && isRandom(value) && !NO_KEY.test(value);
}

function isRandom(value: string): boolean {
  const isPlain = value.length >= LEAST_LENGTH && /^[\x21-\x7e]+$/.test(value);
  return isPlain && /\d/.test(value) && /[A-Za-z]/.test(value) && new Set(value).size >= LEAST_DISTINCT;
}
