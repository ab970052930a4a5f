import { Failure } from "../failure.ts";
import { Secret } from "./secret.ts";

/** In characters. Node refuses request heads of 16 KiB, and a key is only part of one. */
export const MAX_KEY_LENGTH = 8192;

/**
 * Parses an API key from typed, piped or stored text, and trims it: 1 to 8192 printable ASCII characters without spaces, which
 * a header can carry. Throws a Failure that says what is wrong, and never repeats any of the text.
 */
export function parseApiKey(text: string): Secret {
  const value = text.trim();
  const problem = findProblem(value);
  if (problem !== null) throw new Failure(problem, "enter only the key, on one line");
  return new Secret(value);
}

function findProblem(value: string): string | null {
  if (value === "") return "the key is empty";
  if (value.length > MAX_KEY_LENGTH) return `the key is longer than ${MAX_KEY_LENGTH} characters`;
  if (/^bearer\s/i.test(value)) return 'the key starts with "Bearer ", which belongs to a header';
  if (/[\r\n]/.test(value)) return "the key contains line breaks";
  if (/\s/.test(value)) return "the key contains spaces";
  if (!/^[\x21-\x7e]+$/.test(value)) return "the key contains characters that are not allowed in a header";
  return null;
}

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
  if (NO_KEY.test(value))
    return { reason: "it is a placeholder", fix: "copy the key from the service's site" };
  if (value.length >= MIN_KEY_LENGTH) return null;
  return { reason: `it is only ${value.length} characters long`, fix: "copy all of the key" };
}
