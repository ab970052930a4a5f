import { isObject } from "../json.ts";
import type { ConfigPath } from "./config-path.ts";
import { checkConfig, type Config } from "./config.ts";
import { depthOf, isFromManaged, mergeConfigs, readManaged, without } from "./managed.ts";
import { formatConfigPath, type Issue } from "./problem.ts";
import { LOCKED } from "./schema.ts";

/** An issue, and whether it is in the managed file or in the user's own. */
export interface LayeredIssue extends Issue {
  isManaged: boolean;
}

/** The configuration of a user's file above the managed one, or everything that is wrong with the two. */
export interface Layers {
  /** null when it is not valid. */
  config: Config | null;
  /** What prevents it: none when it is valid. */
  issues: LayeredIssue[];
  /** Values of the user's file that are not used, because the managed file locks them or something that they need. */
  overruled: LayeredIssue[];
  /** The part of the user's file that is used. */
  own: unknown;
  /** What the managed file sets. */
  settings: unknown;
  locked: ConfigPath[];
}

/** A value that was dropped may have been what another one needs; this is deeper than references go. */
const MAX_PASSES = 4;

/**
 * Merges a user's file with the managed one, then checks and resolves the result. Both are any JSON value, or undefined where there
 * is no file. A value that would change what is locked is left out, and so is one that is valid only together with such a value: a
 * lock must neither be ignored nor prevent the daemon from starting.
 * @param managedPath of the managed file, for messages
 * @param home absolute, for paths that start with `~/`
 */
export function checkLayers(user: unknown, managed: unknown, managedPath: string, home: string): Layers {
  const { settings, locked, issues: lockIssues } = readManaged(managed);
  const { file, issues: ownIssues } = takeOutLocked(user, managedPath);
  const merged = mergeConfigs(file, { settings, locked });
  const overruled: LayeredIssue[] = merged.overruled.map((path) => {
    return { path, message: `is not used: ${managedPath} locks it; remove it here`, isManaged: false };
  });
  let { own } = merged;
  let verdict = checkConfig(merged.value, home);
  if (!verdict.ok && overruled.length > 0) {
    const freed = dropConsequences(file, own, settings, home);
    if (freed !== null) {
      ({ own, verdict } = freed);
      const reason = `and is not used: ${managedPath} locks what it refers to`;
      overruled.push(
        ...freed.dropped.map(({ path, message }) => {
          return { path, message: `${message}; ${reason}`, isManaged: false };
        }),
      );
    }
  }
  const issues = [
    ...ownIssues.map((issue) => ({ ...issue, isManaged: false })),
    ...lockIssues.map((issue) => ({ ...issue, isManaged: true })),
    ...(verdict.ok ? [] : verdict.issues).map((issue) => {
      return { ...issue, isManaged: isFromManaged(issue.path, own, settings) };
    }),
  ];
  const config = verdict.ok && issues.length === 0 ? verdict.config : null;
  return { config, issues, overruled, own, settings, locked };
}

/** Locks are for the managed file only; elsewhere they are an issue. */
function takeOutLocked(user: unknown, managedPath: string): { file: unknown; issues: Issue[] } {
  if (!isObject(user) || !Object.hasOwn(user, LOCKED)) return { file: user, issues: [] };
  const message = `only the managed configuration file, ${managedPath}, can lock settings; remove it`;
  return { file: without(user, [LOCKED]), issues: [{ path: [LOCKED], message }] };
}

type Verdict = ReturnType<typeof checkConfig>;

/**
 * Leaves out the values of the user's file that are only wrong because others were overruled. Returns null when the rest is still
 * not valid: the user's own mistakes are never left out.
 */
function dropConsequences(
  file: unknown,
  remaining: unknown,
  settings: unknown,
  home: string,
): { own: unknown; verdict: Verdict; dropped: Issue[] } | null {
  const unlocked = checkConfig(mergeConfigs(file, { settings, locked: [] }).value, home);
  const mistakes = new Set(unlocked.ok ? [] : unlocked.issues.map(identify));
  const dropped: Issue[] = [];
  let own = remaining;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const verdict = checkConfig(mergeConfigs(own, { settings, locked: [] }).value, home);
    if (verdict.ok) return { own, verdict, dropped };
    for (const issue of verdict.issues) {
      const path = memberAt(own, issue.path);
      if (path.length === 0 || mistakes.has(identify(issue)) || isFromManaged(issue.path, own, settings))
        return null;
      own = without(own, path);
      dropped.push(issue);
    }
  }
  return null;
}

function identify({ path, message }: Issue): string {
  return `${formatConfigPath(path)}: ${message}`;
}

/** Returns the path to the member of an object that an issue is in, as far as it exists. */
function memberAt(value: unknown, path: ConfigPath): ConfigPath {
  const index = path.findIndex((step) => typeof step === "number");
  const member = index === -1 ? path : path.slice(0, index);
  return member.slice(0, depthOf(value, member));
}
