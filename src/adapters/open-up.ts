import { accessSync, constants, existsSync, statSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { hasCode } from "../core/failure.ts";
import { formatCommand } from "../core/text/shell-words.ts";

const { R_OK, W_OK, X_OK } = constants;

/**
 * Returns the command that lets this user read a file that permissions make unreadable, its own or those of a directory above
 * it. Returns null when they do not, or when a directory above it belongs to another user.
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

/** Returns the outermost directory above a path that this user cannot enter. */
function findClosedAbove(path: string): string | undefined {
  return ancestorsOf(path).find((directory) => isClosed(directory, X_OK));
}

/** Returns null for a file in the place of a directory, too: no mode lets anyone into it. */
function letInto(directory: string): string | null {
  return isOwn(directory) && isDirectory(directory) ? formatCommand(["chmod", "u+rwx", directory]) : null;
}

function takeOver(path: string, mode: string): string {
  if (isOwn(path)) return formatCommand(["chmod", mode, path]);
  return formatCommand(["sudo", "chown", String(process.geteuid?.()), path]);
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
