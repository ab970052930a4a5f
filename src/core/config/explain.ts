import { isObject } from "../json.ts";
import type { ConfigPath } from "./config-path.ts";
import type { Layers } from "./layers.ts";
import { isLocked, mergeConfigs } from "./managed.ts";
import { looksLikeKey } from "./problem.ts";
import { valueAt } from "./rules.ts";
import { findSetting, isChoiceOfOne } from "./settings.ts";

/** Where the value of a setting comes from: a file, `both` for an object with members of both files, or neither. */
export type SettingSource = "own" | "managed" | "both" | "default";

/** What is known about one setting. */
export interface Explanation {
  /** The path that is explained: the one that was asked for, or that of a short form above it, such as `"access": "token"`. */
  path: ConfigPath;
  /** The value in force as a file would have it. */
  value: unknown;
  source: SettingSource;
  isLocked: boolean;
  /** The value in the user's file that is not used, or of which a part is not used; undefined when there is none. */
  overruled: unknown;
  default: unknown;
  description: string | null;
}

/** Explains a setting; null when the configuration has none of that path. `user` is the whole of the user's file, as any JSON value. */
export function explainSetting(asked: ConfigPath, user: unknown, layers: Layers): Explanation | null {
  const { own, settings, locked } = layers;
  if (findSetting(asked) === null) return null;
  const { value: merged } = mergeConfigs(own, { settings, locked: [] });
  const path = shortFormAbove(merged, asked);
  const setting = findSetting(path);
  const fallback = setting?.["default"] ?? null;
  const value = valueAt(merged, path);
  const [inUser, inOwn, inManaged] = [user, own, settings].map((file) => valueAt(file, path));
  const isUnused = inUser !== undefined && JSON.stringify(inUser) !== JSON.stringify(inOwn);
  const description = setting?.["description"];
  return {
    path,
    value: value === undefined ? fallback : value,
    source: sourceOf(path, inOwn, inManaged),
    isLocked: isLocked(path, locked),
    overruled: isUnused ? inUser : undefined,
    default: fallback,
    description: typeof description === "string" ? description : null,
  };
}

/** Lists the paths of all values that a file sets, those that are not used included, in the order of the files. */
export function listSetPaths(user: unknown, { own, settings }: Layers): ConfigPath[] {
  const { value } = mergeConfigs(own, { settings, locked: [] });
  const { value: all } = mergeConfigs(value, { settings: user, locked: [] });
  return listLeaves(all, []);
}

/** Returns a value as it may be shown: what looks like a key, and the login in an address, are replaced by `[hidden]`. */
export function concealSecrets(value: unknown): unknown {
  const text = JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? conceal(part) : part));
  return JSON.parse(text) as unknown;
}

function conceal(text: string): string {
  return looksLikeKey(text) ? "[hidden]" : text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1[hidden]@");
}

function sourceOf(path: ConfigPath, inOwn: unknown, inManaged: unknown): SettingSource {
  if (inOwn === undefined) return inManaged === undefined ? "default" : "managed";
  const isMerged = isObject(inOwn) && isObject(inManaged) && !isChoiceOfOne(path);
  return isMerged ? "both" : "own";
}

/** Only objects contain further settings. */
function shortFormAbove(value: unknown, path: ConfigPath): ConfigPath {
  for (let length = 1; length < path.length; length += 1) {
    const above = valueAt(value, path.slice(0, length));
    if (above === undefined) break;
    if (typeof above !== "object" || above === null) return path.slice(0, length);
  }
  return path;
}

function listLeaves(value: unknown, path: ConfigPath): ConfigPath[] {
  if (!isObject(value) || isChoiceOfOne(path)) return path.length === 0 ? [] : [path];
  const keys = Object.keys(value);
  if (keys.length === 0 && path.length > 0) return [path];
  return keys.flatMap((key) => listLeaves(value[key], [...path, key]));
}
