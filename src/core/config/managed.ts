import { isObject } from "../json.ts";
import { parseConfigPath, type ConfigPath } from "./config-path.ts";
import { formatConfigPath, sanitizeText, type Issue } from "./problem.ts";
import { valueAt } from "./rules.ts";
import { LOCKED, lockedPaths } from "./schema.ts";
import { ANY_NAME, findSetting, isChoiceOfOne } from "./settings.ts";

/** What a managed configuration file says: its settings as any JSON value, and the paths that it locks. */
interface Managed {
  settings: unknown;
  locked: ConfigPath[];
}

/** Separates the settings of a managed configuration file from what it locks. `file` is any JSON value. */
export function readManaged(file: unknown): Managed & { issues: Issue[] } {
  if (file !== undefined && !isObject(file))
    return { settings: undefined, locked: [], issues: [{ path: [], message: "must be an object: { ... }" }] };
  if (file === undefined || !Object.hasOwn(file, LOCKED)) return { settings: file, locked: [], issues: [] };
  const { [LOCKED]: written, ...settings } = file;
  const result = lockedPaths.read(written, [LOCKED]);
  if ("issues" in result) return { settings, locked: [], issues: result.issues };
  const locked: ConfigPath[] = [];
  const issues: Issue[] = [];
  for (const [index, name] of result.value.entries()) {
    const path = parseConfigPath(name);
    const message = path === null ? unknownSetting(name) : findFault(path, settings);
    if (path !== null && message === null) locked.push(path);
    else if (message !== null) issues.push({ path: [LOCKED, index], message });
  }
  return { settings, locked, issues };
}

/** Returns what is wrong with a locked path, or null. A lock that could be got round is a fault. */
function findFault(path: ConfigPath, settings: unknown): string | null {
  if (findSetting(path) === null) return unknownSetting(formatConfigPath(path));
  const faults = expand(path, settings).map((one) => findFaultAbove(one, settings));
  return faults.find((fault) => fault !== null) ?? null;
}

function findFaultAbove(path: ConfigPath, settings: unknown): string | null {
  for (let length = 1; length < path.length; length += 1) {
    const above = path.slice(0, length);
    const value = valueAt(settings, above);
    const isWhole = typeof path[length] === "number" || isChoiceOfOne(above);
    if (isWhole || (value !== undefined && !isObject(value)))
      return `${formatConfigPath(above)} is replaced as a whole; lock that instead`;
  }
  return null;
}

function unknownSetting(name: string): string {
  return `the configuration has no ${sanitizeText(name)}; write a path such as "upstreams.default.baseUrl"`;
}

/** What a user's file and the managed one say together. */
interface Merged {
  /** The value to check and resolve. */
  value: unknown;
  /** The part of the user's file that is in it. */
  own: unknown;
  /** Values of the user's file that are not in it, because they would change what is locked. */
  overruled: ConfigPath[];
}

/**
 * Puts a user's file above the managed one: objects are merged member by member, the user's first and in their order, and anything
 * else is replaced. What is locked is as the managed file says, or as by default if that does not say anything. Takes any JSON
 * values; undefined stands for no file. The result may share objects with both.
 */
export function mergeConfigs(user: unknown, { settings, locked }: Managed): Merged {
  const overruled: ConfigPath[] = [];
  let own = user;
  for (const path of locked.flatMap((lock) => expand(lock, user))) {
    const found = findConflict(own, path);
    if (found === null) continue;
    overruled.push(found);
    own = without(own, found);
  }
  return { value: merge(own, settings, []), own, overruled };
}

/** True when a value is locked with everything below it. */
export function isLocked(path: ConfigPath, locked: readonly ConfigPath[]): boolean {
  return locked.some((lock) => lock.length <= path.length && covers(lock, path));
}

function covers(lock: ConfigPath, path: ConfigPath): boolean {
  return lock.every((step, at) => step === ANY_NAME || step === path[at]);
}

/** Returns the paths that a lock covers in a file: one for each name that stands where the lock has {@link ANY_NAME}. */
function expand(lock: ConfigPath, file: unknown, from = 0): ConfigPath[] {
  const at = lock.indexOf(ANY_NAME, from);
  const names = at === -1 ? undefined : valueAt(file, lock.slice(0, at));
  if (!isObject(names)) return [lock];
  return Object.keys(names).flatMap((name) => expand(lock.with(at, name), file, at + 1));
}

/** True when the managed file has more of a path than the user's own part of the configuration. */
export function isFromManaged(path: ConfigPath, own: unknown, settings: unknown): boolean {
  return depthOf(settings, path) > depthOf(own, path);
}

/** Returns the path that leads to a locked value in a user's file, or to what is no object above it; null without either. */
function findConflict(user: unknown, locked: ConfigPath): ConfigPath | null {
  if (!isObject(user)) return null;
  for (let length = 1; length <= locked.length; length += 1) {
    const path = locked.slice(0, length);
    const value = valueAt(user, path);
    if (value === undefined) return null;
    if (length === locked.length || !isObject(value)) return path;
  }
  return null;
}

/** Returns a value without the member at a path of object keys. `fromEntries` defines properties, as an assignment might not. */
export function without(value: unknown, [step, ...rest]: ConfigPath): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, below]) => {
    if (key !== step) return [[key, below] as const];
    return rest.length === 0 ? [] : [[key, without(below, rest)] as const];
  });
  return Object.fromEntries(entries);
}

function merge(own: unknown, settings: unknown, path: ConfigPath): unknown {
  if (own === undefined) return settings;
  if (!isObject(own) || !isObject(settings) || isChoiceOfOne(path)) return own;
  const merged = Object.entries(own).map(([key, value]) => {
    const below = Object.hasOwn(settings, key) ? settings[key] : undefined;
    return [key, merge(value, below, [...path, key])] as const;
  });
  const added = Object.entries(settings).filter(([key]) => !Object.hasOwn(own, key));
  return Object.fromEntries([...merged, ...added]);
}

/** Returns how many steps of a path exist. */
export function depthOf(value: unknown, path: ConfigPath): number {
  let depth = 0;
  while (depth < path.length && valueAt(value, path.slice(0, depth + 1)) !== undefined) depth += 1;
  return depth;
}
