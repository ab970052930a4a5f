import { Failure } from "../failure.ts";
import { Secret } from "./secret.ts";

/** In characters. Node refuses request heads of 16 KiB, and a key is only a part of one. */
export const MAX_KEY_LENGTH = 8192;

/**
 * Parses an API key from typed, piped or stored text, and trims it: 1 to 8192 printable ASCII characters without spaces, which
 * a header can carry. Throws a Failure that says what is wrong, and never repeats any of the text.
 */
export function parseApiKey(text: string): Secret {
  const value = text.trim();
  const problem = findProblem(value);
  if (problem !== null) throw new Failure(problem, "give the key alone, on one line");
  return new Secret(value);
}

function findProblem(value: string): string | null {
  if (value === "") return "the key is empty";
  if (value.length > MAX_KEY_LENGTH) return `the key is longer than ${MAX_KEY_LENGTH} characters`;
  if (/^bearer\s/i.test(value)) return 'the key starts with "Bearer ", which belongs to a header';
  if (/[\r\n]/.test(value)) return "the key has line breaks in it";
  if (/\s/.test(value)) return "the key has spaces in it";
  if (!/^[\x21-\x7e]+$/.test(value)) return "the key has characters that no header can carry";
  return null;
}
