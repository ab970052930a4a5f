import { hasTextAt } from "./has-text-at.ts";

const SPACE = 0x20;
const BACKSLASH = 0x5c;

/** Does a string's text, `bytes[from, to)`, stand for itself, without an escape, and without what no JSON text may have in it? */
export function isPlain(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte < SPACE) return false;
  }
  return true;
}

/** Which of the object's own names `bytes[from, to)` is; empty when it is none. Names in Latin-1 alone. */
export function findName(names: object, bytes: Buffer, from: number, to: number): string {
  for (const name in names) if (name.length === to - from && hasTextAt(bytes, from, to, name)) return name;
  return "";
}
