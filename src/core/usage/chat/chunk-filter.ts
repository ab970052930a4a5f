import { hasTextAt, isSpace, isUnescaped } from "../bytes.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** A chunk's own members are at depth 1, those of its choices at 3, and what the model writes is below. */
const DEEPEST_MEMBER = 3;

const CHOICES = "choices";
const INDEX = "index";
const ZERO = 0x30;
const NULL = "null";

/**
 * True when the JSON object `bytes[from, to)` is certainly a chunk of choice 0 without usage, error, timings and finish reason. Only
 * names and nesting are looked at, so what the model writes cannot pass for a member; a name with an escape counts as one that matters.
 * About 1.5 ns a byte, and allocates nothing.
 */
export function isPlainChunk(bytes: Buffer, from: number, to: number): boolean {
  let depth = 0;
  let hasChoices = false;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const start = at + 1;
      at = findStringEnd(bytes, start, to);
      if (depth > DEEPEST_MEMBER) continue;
      const value = findValue(bytes, at + 1, to);
      if (value === -1) continue;
      if (isTelling(bytes, start, at) && !hasTextAt(bytes, value, to, NULL)) return false;
      if (isName(bytes, start, at, INDEX) && bytes[value] !== ZERO) return false;
      if (depth === 1 && isName(bytes, start, at, CHOICES)) hasChoices = true;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return hasChoices && at === to - 1;
    }
  }
  return false;
}

/** Returns the offset of the closing quote; `to` when there is none. */
function findStringEnd(bytes: Buffer, start: number, to: number): number {
  let at = start;
  for (let byte = bytes[at]; at < to && byte !== QUOTE; byte = bytes[at]) at += byte === BACKSLASH ? 2 : 1;
  return at;
}

/** Returns the offset of the value when the string that ended before `at` is a member's name, else -1. */
function findValue(bytes: Buffer, at: number, to: number): number {
  const colon = skipSpace(bytes, at, to);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1, to) : -1;
}

function skipSpace(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(bytes[at] ?? 0)) at++;
  return at;
}

/** True for the name of a member that matters unless it is null. */
function isTelling(bytes: Buffer, from: number, to: number): boolean {
  switch (to - from) {
    case 5:
      if (hasTextAt(bytes, from, to, "usage") || hasTextAt(bytes, from, to, "error")) return true;
      break;
    case 6:
      if (hasTextAt(bytes, from, to, "x_groq")) return true;
      break;
    case 7:
      if (hasTextAt(bytes, from, to, "timings")) return true;
      break;
    case 13:
      if (hasTextAt(bytes, from, to, "finish_reason")) return true;
  }
  return !isUnescaped(bytes, from, to);
}

function isName(bytes: Buffer, from: number, to: number, name: string): boolean {
  return to - from === name.length && hasTextAt(bytes, from, to, name);
}
