import { accessSync, constants, existsSync, statSync, type Stats } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { hasCode } from "../core/failure.ts";
import { homeDirectory } from "./paths.ts";
import { formatCommand } from "../core/text/shell-words.ts";

const { R_OK, W_OK, X_OK } = constants;

/**
 * Returns the command that lets this user read a file that permissions make unreadable, its own or those of a directory above
 * it. Returns null when they do not, or when it belongs to another user than root, or a directory above it to another user.
 */
export function letRead(path: string): string | null {
  const closed = findClosedAbove(path);
  if (closed !== undefined) return letInto(closed);
  return isClosed(path, R_OK) ? takeOver(path, "u+r") : null;
}

/** As {@link letRead}, for writing into a directory. If that is missing, into its nearest parent that exists. */
export function letWrite(directory: string): string | null {
  const closed = findClosedAbove(directory);
  if (closed !== undefined) return letInto(closed);
  if (!existsSync(directory)) return letWrite(dirname(directory));
  return isDirectory(directory) && isClosed(directory, W_OK | X_OK) ? takeOver(directory, "u+rwx") : null;
}

/** As {@link letRead}, for changing a file that exists. */
export function letChange(path: string): string | null {
  return existsSync(path) && !isDirectory(path) && isClosed(path, W_OK) ? takeOver(path, "u+w") : null;
}

/**
 * Returns what to type about a file in a home directory that is not this user's, as when `su` keeps HOME; null when the home is this
 * user's own, or the file is elsewhere.
 */
export function correctHome(path: string): string | null {
  const home = tryHome();
  if (home === null || !isBelow(path, home) || isOwn(home)) return null;
  const what = existsSync(home) ? "belongs to another user" : "does not exist";
  const own = tryOwnHome();
  const isKnown = own !== null && isOwn(own);
  return isKnown
    ? `HOME is ${home}, which ${what}; to use your own, type: ${formatCommand(["export", `HOME=${own}`])}`
    : `HOME is ${home}, which ${what}; to name a directory of yours, type: export HOME=/path/to/home`;
}

function tryHome(): string | null {
  try {
    return homeDirectory();
  } catch {
    return null;
  }
}

/** The home that the user database names. */
function tryOwnHome(): string | null {
  try {
    return userInfo().homedir;
  } catch {
    return null;
  }
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** Returns the outermost directory above a path that this user cannot enter. */
function findClosedAbove(path: string): string | undefined {
  return ancestorsOf(path).find((directory) => isClosed(directory, X_OK));
}

/** Returns null for a file in the place of a directory, too: no mode lets anyone into it. */
function letInto(directory: string): string | null {
  return isOwn(directory) && isDirectory(directory) ? formatCommand(["chmod", "u+rwx", directory]) : null;
}

function takeOver(path: string, mode: string): string | null {
  if (isOwn(path)) return formatCommand(["chmod", mode, path]);
  // Anybody but root may have written it to be taken over (SECURITY.md E4).
  if (tryStat(path)?.uid !== 0 || (isDirectory(path) && !isInOwnHome(path))) return null;
  return formatCommand(["sudo", "chown", String(process.geteuid?.()), path]);
}

/** Elsewhere, others may depend on whose a directory is. */
function isInOwnHome(path: string): boolean {
  const home = tryHome();
  return home !== null && isOwn(home) && isBelow(path, home);
}

function isOwn(path: string): boolean {
  return tryStat(path)?.uid === process.geteuid?.();
}

function isDirectory(path: string): boolean {
  return tryStat(path)?.isDirectory() === true;
}

/** This looks into what has just failed, so it may fail as well. */
function tryStat(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** Returns the directories that lead to a path, the outermost first. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...ancestorsOf(parent), parent];
}

function isClosed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return false;
  } catch (error) {
    return hasCode(error, "EACCES");
  }
}
