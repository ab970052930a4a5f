import { printable } from "../text/printable.ts";

/** One thing wrong with the configuration file, told to a person: what is wrong, then the likely fix. */
export interface Problem {
  /** Where in the file, e.g. `upstreams.default.baseUrl`; empty for the file as a whole. */
  path: string;
  /** Line in the file, from 1; null where no line can be named. */
  line: number | null;
  message: string;
}

/** A problem before its place in the text is known: the keys and indexes that lead to it, and the words. */
export interface Fault {
  path: (string | number)[];
  message: string;
}

/** What is said where a key value stands; the value itself is never repeated. */
export const KEY_VALUE_FOUND =
  "a key value never stands in the file; store it with `tollkeeper key set`, and name it here";

const PLAIN_KEY = /^[\w$-]+$/;
const KEY_LIKE = /\bsk-[\w-]*|[\w-]{32,}/g;

/** Does `text` look like an API key's value rather than like a name for one? */
export function looksLikeKey(text: string): boolean {
  return /^sk-|^[A-Za-z0-9_-]{32,}$/.test(text);
}

/** `text` fit for a message: without the parts that look like key values, and with nothing that acts on a terminal. */
export function repeatable(text: string): string {
  return printable(text.replaceAll(KEY_LIKE, "[hidden]"));
}

/** Writes a path as people write it in JavaScript: `upstreams["my.gateway"].routes[0].path`. */
export function writePath(path: readonly (string | number)[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (PLAIN_KEY.test(step)) text += text === "" ? repeatable(step) : `.${repeatable(step)}`;
    else text += `["${repeatable(step)}"]`;
  }
  return text;
}

/** One line for one problem, in the form that editors and terminals can jump to: `FILE:LINE: json.path: message`. */
export function writeProblem(file: string, { path, line, message }: Problem): string {
  const place = line === null ? file : `${file}:${line}`;
  return path === "" ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}
