import { Failure } from "../failure.ts";
import { Secret } from "./secret.ts";

/** Longest key accepted, in characters; Node refuses a whole request head of 16 KiB, and a key is a part of one. */
export const MAX_KEY_LENGTH = 8192;

const HINT = "give the key alone, on one line";

/**
 * Takes an API key out of typed, piped or stored text; white space around it does not belong to it. What is left
 * must be 1 to 8192 printable ASCII characters without spaces, which is what a header can carry.
 * @throws Failure which says what is wrong, and never repeats any of the text
 */
export function parseKeyValue(text: string): Secret {
  const value = text.trim();
  const problem = problemOf(value);
  if (problem !== null) throw new Failure(problem, HINT);
  return new Secret(value);
}

function problemOf(value: string): string | null {
  if (value === "") return "the key is empty";
  if (value.length > MAX_KEY_LENGTH) return `the key is longer than ${MAX_KEY_LENGTH} characters`;
  if (/^bearer\s/i.test(value)) return 'the key starts with "Bearer ", which belongs to a header';
  if (/[\r\n]/.test(value)) return "the key has line breaks in it";
  if (/\s/.test(value)) return "the key has spaces in it";
  if (!/^[\x21-\x7e]+$/.test(value)) return "the key has characters that no header can carry";
  return null;
}
