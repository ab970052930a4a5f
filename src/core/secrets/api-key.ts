import { Failure } from "../failure.ts";
import { isObject, parseJson, type JsonObject } from "../json.ts";
import { Secret } from "./secret.ts";

/** In characters. Node refuses request heads of 16 KiB, and a key is only part of one. */
export const MAX_KEY_LENGTH = 8192;

/**
 * Parses an API key from typed, piped or stored text, and trims it: 1 to 8192 printable ASCII characters without spaces, which
 * a header can carry. Throws a Failure that says what is wrong, and never repeats any of the text.
 * @param expiresAt see {@link Secret.expiresAt}
 */
export function parseApiKey(text: string, expiresAt: number | null = null): Secret {
  const value = text.trim();
  const problem = findProblem(value);
  if (problem !== null) {
    const json = parseObject(value);
    throw new Failure(problem, json === null ? "enter only the key, on one line" : onlyTheKeyOf(json));
  }
  const key = new Secret(value, expiresAt);
  const unlikely = findUnlikelyKey(value);
  if (unlikely !== null) UNLIKELY.set(key, unlikely);
  return key;
}

/** Names the member of a settings file that is the key, if its name is one of settings. */
function onlyTheKeyOf(json: JsonObject): string {
  const [name = ""] = Object.entries(json).find(([, value]) => isProbableKey(value)) ?? [];
  return /^[A-Za-z_]{1,40}$/.test(name)
    ? `enter only the API key, which is the value of "${name}", without its quotes`
    : "enter only the API key that is in it, without its quotes";
}

function isProbableKey(value: unknown): boolean {
  return typeof value === "string" && probableKey(value) !== null;
}

/** Of the keys that were parsed, those that are plainly none. */
const UNLIKELY = new WeakMap<Secret, UnlikelyKey>();

/** Returns what {@link findUnlikelyKey} says of a key that was parsed: a key file may hold anything, and only a rejected key is asked about. */
export function whyUnlikely(key: Secret): UnlikelyKey | null {
  return UNLIKELY.get(key) ?? null;
}

function findProblem(value: string): string | null {
  if (value === "") return "the key is empty";
  if (value.length > MAX_KEY_LENGTH) return `the key is longer than ${MAX_KEY_LENGTH} characters`;
  // Settings of tools, and what cloud services hand out as a credential.
  if (parseObject(value) !== null) return "this is JSON, and not only a key";
  if (/^bearer\s/i.test(value)) return 'the key starts with "Bearer ", which belongs to a header';
  if (/[\r\n]/.test(value)) return "the key contains line breaks";
  if (/\s/.test(value))
    return SPACED_ASSIGNMENT.test(value) ? "the key has a name in front" : "the key contains spaces";
  if (!/^[\x21-\x7e]+$/.test(value)) return "the key contains characters that are not allowed in a header";
  return null;
}

function parseObject(value: string): JsonObject | null {
  const parsed = value.startsWith("{") ? parseJson(value) : null;
  return isObject(parsed) ? parsed : null;
}

/**
 * Returns the key that a text probably is, which was entered where something else was asked for; null for any other text. A word of a
 * language has no digit, and a number no letter.
 */
export function probableKey(text: string): Secret | null {
  const value = text.trim();
  const isLikely =
    findProblem(value) === null &&
    findUnlikelyKey(value) === null &&
    !ADDRESS.test(value) &&
    value.length >= MIN_PROBABLE_LENGTH &&
    /\d/.test(value) &&
    /[a-z]/i.test(value);
  return isLikely ? new Secret(value) : null;
}

const MIN_PROBABLE_LENGTH = 16;

/** A host without its scheme, such as `api.example.com/v1`. Keys with dots have longer parts, or capital letters. */
const ADDRESS = /^(?:localhost|(?:[a-z\d-]{1,24}\.)+(?:[a-z]{2,12}|\d{1,3}))(?::\d{1,5})?(?:\/[\w./-]*)?$/;

/** Shorter than the keys of all services that we know of. */
const MIN_KEY_LENGTH = 8;

/** What tools and documentation write in place of a key. */
const NO_KEY = /^tk-|^tollkeeper|placeholder|your[-_ ]?(?:api[-_ ]?)?key|^changeme|^x+$|^\*+$/i;

/** Why a text is plainly no API key, and what to enter instead. */
interface UnlikelyKey {
  reason: string;
  fix: string;
}

/**
 * Returns why a text is plainly no API key, though a header could carry it: quotes that a shell or a file left around it, a
 * placeholder, or a few letters; null for one that may be a key. Never repeats the text.
 */
export function findUnlikelyKey(text: string): UnlikelyKey | null {
  const value = text.trim();
  if (/^["'`]|["'`]$/.test(value)) return { reason: "it has quotes around it", fix: "enter it without them" };
  const wrapped = findWrapping(value);
  if (wrapped !== null) return wrapped;
  if (NO_KEY.test(value))
    return { reason: "it is a placeholder", fix: "copy the key from the service's site" };
  if (value.length >= MIN_KEY_LENGTH) return null;
  return { reason: `it is only ${value.length} characters long`, fix: "copy all of the key" };
}

/** A line of an `.env` file, of a shell's start-up file, or of a header. */
const ASSIGNMENT = /^(?:[A-Z][A-Z0-9_]*=|(?:api|x|auth)[\w-]*[=:])(?!=*$)/i;

/** The same with spaces, which no key has: `export NAME="value"`, `set -x NAME value`, `NAME = value`, `name: value`. */
const SPACED_ASSIGNMENT = /^(?:export|set|setenv)\s|^\$?[\w:-]+\s*[:=]/i;

/** A variable, a placeholder in brackets, a path or an address. Keys in base64 may begin with a slash. */
const REFERENCE = /^[$<{]|^(?:~|\.{1,2}|\/(?:home|root|Users|etc|run|tmp|var|opt|usr|nix))\/|:\/\//;

/** What Claude Code logs in with. It belongs to a person and a tool, and no service takes it as a key. */
const LOGIN = /^sk-ant-o[ar]t/;

function findWrapping(value: string): UnlikelyKey | null {
  if (ASSIGNMENT.test(value))
    return { reason: "it has a name in front", fix: "enter only what is behind the name" };
  if (REFERENCE.test(value))
    return { reason: "it only names the place of a key", fix: "enter the key itself" };
  if (LOGIN.test(value))
    return { reason: "it is Claude Code's login, not a key", fix: "make a key on the service's site" };
  return null;
}
