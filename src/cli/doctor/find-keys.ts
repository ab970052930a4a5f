import type { Secret } from "../../core/secret.ts";
import { findAssignments } from "./assignments.ts";

/** A key where none should be; never the key itself. */
export interface FoundKey {
  /** From 1. */
  line: number;
  /** What it is assigned to; null where that cannot be told. */
  name: string | null;
  /** Is it one that tollkeeper itself holds? Otherwise it looks like a key, and may be anybody's. */
  isOwn: boolean;
}

/** How the keys of both APIs begin; logins (`sk-ant-oat`, `sk-ant-ort`) are the tools' own business. */
const KEY_SHAPE = /(?<![\w-])sk-(?!ant-o[ar]t)[\w-]{20,}/g;

/** Names that keys are given: `ANTHROPIC_API_KEY`, `apiKey`, `x-api-key`, `COPILOT_PROVIDER_AUTH_TOKEN`. */
const KEY_NAME = /(?:api[_-]?key|(?<!o)auth[_-]?token)$/i;

/** What tools want in a key's place when there is none, and how a value that stands elsewhere is named. */
const NO_KEY = /placeholder|dummy|example|tollkeeper|changeme|your[-_ ]|^tk-|^[$`~./<{]|:\/\//i;

const LEAST_LENGTH = 20;

/** A made-up value, `sk-xxxxxxxxxxxxxxxxxxxxxxxx`, has few characters. */
const LEAST_DISTINCT = 10;

/** Finds the keys in a text, each line's once for each name. */
export function findKeys(text: string, own: readonly Secret[]): FoundKey[] {
  return text.split("\n").flatMap((line, i) => keysInLine(line, own).map((key) => ({ line: i + 1, ...key })));
}

/** Is a value a key, by itself and by the name that it has? null when it is none. */
export function judgeValue(name: string, value: string, own: readonly Secret[]): { isOwn: boolean } | null {
  if (own.some((secret) => secret.isIn(value))) return { isOwn: true };
  const isKey = hasKeyShape(value) || (KEY_NAME.test(name) && isRandom(value) && !NO_KEY.test(value));
  return isKey ? { isOwn: false } : null;
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

function hasKeyShape(text: string): boolean {
  return [...text.matchAll(KEY_SHAPE)].some(([key]) => isRandom(key) && !NO_KEY.test(key));
}

function isRandom(value: string): boolean {
  const isPlain = value.length >= LEAST_LENGTH && /^[\x21-\x7e]+$/.test(value);
  return isPlain && /\d/.test(value) && /[A-Za-z]/.test(value) && new Set(value).size >= LEAST_DISTINCT;
}
