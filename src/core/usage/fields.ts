import { isObject, type JsonObject } from "../json.ts";

/** More than any response has. Nine thousand such counts still add up exactly. */
const MAX_TOKENS = 1e12;

/** Returns a token count, an integer from 0 to 10^12; null for anything else, including a string of digits. */
export function asCount(value: unknown): number | null {
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS;
  // Turns -0 into 0.
  return isCount ? Math.abs(value) : null;
}

/** Returns a non-empty string; null for anything else. */
export function asText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/**
 * The form of codes, types and tiers. A longer text, or one with spaces, is a sentence, which may come from a prompt or a
 * response, so no record may hold it (SECURITY.md E6).
 */
const WORD = /^[\w./:@+-]{1,64}$/;

/** Returns a {@link WORD}; null for anything else. */
export function asWord(value: unknown): string | null {
  return typeof value === "string" && WORD.test(value) ? value : null;
}

/** True for a name that a record may hold. A reader's assignment to one of these names could reach an object's prototype. */
export function isName(name: string): boolean {
  return WORD.test(name) && name !== "__proto__" && name !== "constructor" && name !== "prototype";
}

/**
 * Replaces string values that are no {@link WORD} by null, and drops members unless {@link isName}, both at every depth. Returns
 * the same object when there is nothing to remove: the check takes 0.4 µs, a copy 2. Recursive: the scanner limits the depth.
 */
export function removeSentences(fields: JsonObject): JsonObject {
  if (!hasSentence(fields)) return fields;
  const members = Object.entries(fields).filter(([name]) => isName(name));
  return Object.fromEntries(members.map(([name, value]) => [name, removeSentence(value)]));
}

function removeSentence(value: unknown): unknown {
  if (typeof value === "string") return value === "" ? value : asWord(value);
  if (Array.isArray(value)) return value.map(removeSentence);
  return isObject(value) ? removeSentences(value) : value;
}

/** True when the value holds something that {@link removeSentences} removes. */
function hasSentence(value: unknown): boolean {
  if (typeof value === "string") return value !== "" && asWord(value) === null;
  if (Array.isArray(value)) return value.some(hasSentence);
  if (!isObject(value)) return false;
  for (const name in value) if (!isName(name) || hasSentence(value[name])) return true;
  return false;
}

/** Returns an object; an empty object for anything else. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
