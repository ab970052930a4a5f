import { hasKnownSecret, replaceKnownSecrets } from "../secrets/known-form.ts";
import { toPrintable } from "../text/printable.ts";

/** An issue as people see it: its place in the configuration file, what is wrong, then the likely fix. */
export interface Problem {
  /** The managed configuration file, if the fault is there; undefined for the user's own. */
  file?: string | undefined;
  /** The value at fault, e.g. `upstreams.default.baseUrl`; empty for the file as a whole. */
  path: string;
  /** Line in the file, counted from 1; null when unknown. */
  line: number | null;
  message: string;
  /** What fixes it where an edit of the file would not: a command, or advice with one. */
  hint?: string | undefined;
}

/** One thing wrong with a JSON value: the keys and indexes that lead to it, and a message. */
export interface Issue {
  path: (string | number)[];
  message: string;
  /** What fixes it where another value would not: a command, or advice with one. */
  hint?: string | undefined;
}

/** The message for a key value in the file, where nothing is named for a key. It never repeats the value. */
export const KEY_VALUE_FOUND =
  "a key never belongs in this file; remove it, and revoke it if others could read the file; then type: tollkeeper key set";

/** The message for a key value where the file names a key. */
export const KEY_VALUE_AS_NAME =
  'a key never belongs in this file; replace it with a name such as "default", then type: tollkeeper key set';

const PLAIN_KEY = /^[\w$-]+$/;
const HIDDEN = "[hidden]";
const KEY_LIKE = /\bsk-[\w-]*|[\w-]{32,}/g;

/** True when `text` looks like the value of an API key rather than the name of one. */
export function looksLikeKey(text: string): boolean {
  return /^sk-|^[A-Za-z0-9_-]{32,}$/.test(text) || hasKnownSecret(text);
}

/** Makes `text` safe to show: hides what looks like a key value, and escapes what would control a terminal. */
export function sanitizeText(text: string): string {
  return toPrintable(replaceKnownSecrets(text, HIDDEN).replaceAll(KEY_LIKE, HIDDEN));
}

/** Formats a path in JavaScript notation: `upstreams["my.gateway"].routes[0].path`. */
export function formatConfigPath(path: readonly (string | number)[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (PLAIN_KEY.test(step)) text += text === "" ? sanitizeText(step) : `.${sanitizeText(step)}`;
    else text += `["${sanitizeText(step)}"]`;
  }
  return text;
}

/** Formats a problem of the user's file as one line that editors and terminals can jump to: `FILE:LINE: json.path: message; fix: hint`. */
export function formatProblem(
  ownFile: string,
  { file = ownFile, path, line, message, hint }: Problem,
): string {
  const place = line === null ? file : `${file}:${line}`;
  const what = hint === undefined ? message : `${message}; fix: ${hint}`;
  return path === "" ? `${place}: ${what}` : `${place}: ${path}: ${what}`;
}
