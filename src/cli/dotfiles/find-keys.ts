import { findAssignments } from "../../core/text/assignments.ts";
import { detectKey } from "../../core/secrets/detect-key.ts";
import type { Secret } from "../../core/secrets/secret.ts";

/** The position of a key in a text. Never holds the key itself. */
export interface FoundKey {
  /** From 1. */
  line: number;
  /** What it is assigned to; null for a key that is not the value of an assignment. */
  name: string | null;
  /** True when tollkeeper holds this key. Otherwise it only looks like a key. */
  isOwn: boolean;
}

/** Finds the keys in a text, on each line once per name. `own` are the keys that tollkeeper holds. */
export function findKeys(text: string, own: readonly Secret[]): FoundKey[] {
  return text
    .split("\n")
    .flatMap((line, i) => findKeysInLine(line, own).map((key) => ({ line: i + 1, ...key })));
}

function findKeysInLine(line: string, own: readonly Secret[]): Omit<FoundKey, "line">[] {
  const named = findAssignments(line).flatMap(({ name, value }) => {
    const verdict = detectKey(name, value, own);
    return verdict === null ? [] : [{ name, ...verdict }];
  });
  if (named.length > 0) return named;
  const unnamed = detectKey("", line, own);
  return unnamed === null ? [] : [{ name: null, ...unnamed }];
}
