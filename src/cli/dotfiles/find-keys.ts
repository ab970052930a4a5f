import { findAssignments } from "../../core/text/assignments.ts";
import { judgeValue } from "../../core/secrets/key-shape.ts";
import type { Secret } from "../../core/secrets/secret.ts";

/** A key where none should be; never the key itself. */
export interface FoundKey {
  /** From 1. */
  line: number;
  /** What it is assigned to; null where that cannot be told. */
  name: string | null;
  /** Is it one that tollkeeper itself holds? Otherwise it looks like a key, and may be anybody's. */
  isOwn: boolean;
}

/** Finds the keys in a text, each line's once for each name. */
export function findKeys(text: string, own: readonly Secret[]): FoundKey[] {
  return text.split("\n").flatMap((line, i) => keysInLine(line, own).map((key) => ({ line: i + 1, ...key })));
}

function keysInLine(line: string, own: readonly Secret[]): Omit<FoundKey, "line">[] {
  const named = findAssignments(line).flatMap(({ name, value }) => {
    const verdict = judgeValue(name, value, own);
    return verdict === null ? [] : [{ name, ...verdict }];
  });
  if (named.length > 0) return named;
  const unnamed = judgeValue("", line, own);
  return unnamed === null ? [] : [{ name: null, ...unnamed }];
}
