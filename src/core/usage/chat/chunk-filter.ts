import { hasTextAt, isSpace } from "../bytes.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** A chunk's own members are at depth 1, those of its choices at 3, and what the model writes is below. */
const DEEPEST_MEMBER = 3;

/** Members that matter unless they are null. */
const TELLING = ["usage", "finish_reason", "error", "x_groq", "timings"];
const CHOICES = "choices";
const NULL = "null";

/**
 * True when the JSON object `bytes[from, to)` is certainly a chunk without usage, error, timings and finish reason. Only names and
 * nesting are looked at, so what the model writes cannot pass for a member; a name with an escape counts as one that matters.
 * About 1 ns a byte, and allocates nothing.
 */
export function isPlainChunk(bytes: Buffer, from: number, to: number): boolean {
  let depth = 0;
  let hasChoices = false;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (--depth === 0) return hasChoices && at === to - 1;
    } else if (byte === QUOTE) {
      const end = findStringEnd(bytes, at + 1, to);
      if (end === to) return false;
      if (depth <= DEEPEST_MEMBER) {
        const value = findValue(bytes, end + 1, to);
        if (value !== -1 && isTelling(bytes, at + 1, end) && !hasTextAt(bytes, value, to, NULL)) return false;
        hasChoices ||= value !== -1 && depth === 1 && isName(bytes, at + 1, end, CHOICES);
      }
      at = end;
    }
  }
  return false;
}

/** Returns the offset of the closing quote; `to` when there is none. */
function findStringEnd(bytes: Buffer, start: number, to: number): number {
  for (let at = start; at < to; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return to;
}

/** Returns the offset of the value when the string that ended before `at` is a member's name, else -1. */
function findValue(bytes: Buffer, at: number, to: number): number {
  let next = skipSpace(bytes, at, to);
  if (bytes[next] !== COLON) return -1;
  next = skipSpace(bytes, next + 1, to);
  return next;
}

function skipSpace(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(bytes[at] ?? 0)) at++;
  return at;
}

function isTelling(bytes: Buffer, from: number, to: number): boolean {
  for (const name of TELLING) if (isName(bytes, from, to, name)) return true;
  for (let at = from; at < to; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

function isName(bytes: Buffer, from: number, to: number, name: string): boolean {
  return to - from === name.length && hasTextAt(bytes, from, to, name);
}
