import { hasKnownSecret } from "../secrets/known-form.ts";
import { KEY_VALUE_FOUND, looksLikeKey } from "../config/problem.ts";

/** Longer than the names of all models that we know of. */
const MAX_PATTERN_LENGTH = 256;

/** Checks a pattern of model names: returns what is wrong with it, or null. */
export function checkModelPattern(text: string): string | null {
  if (text === "") return 'must not be empty; "*" stands for any characters';
  if (hasKnownSecret(text)) return KEY_VALUE_FOUND;
  if (text.length > MAX_PATTERN_LENGTH) return `must have at most ${MAX_PATTERN_LENGTH} characters`;
  return /^[\x21-\x7e]+$/.test(text) ? null : "must not contain spaces or unprintable characters";
}

/** Checks the name of a model: returns what is wrong with it, or null. */
export function checkModelName(text: string): string | null {
  if (looksLikeKey(text)) return KEY_VALUE_FOUND;
  return /^[\x21-\x7e]{1,256}$/.test(text)
    ? null
    : "must have 1 to 256 printable ASCII characters, no spaces";
}

/** True when one of the patterns matches: `*` stands for any characters or none, everything else for itself, case included. */
export function matchesModel(patterns: readonly string[], model: string): boolean {
  return patterns.some((pattern) => matches(pattern.split("*"), model));
}

/** Finds each literal part at its earliest place, which leaves the most for the parts after it. */
function matches([first = "", ...rest]: readonly string[], model: string): boolean {
  const last = rest.pop();
  if (last === undefined) return model === first;
  if (!model.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = model.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return model.length - last.length >= at && model.endsWith(last);
}
