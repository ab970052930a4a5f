import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { formatCommand } from "../../core/text/shell-words.ts";

/**
 * Returns the command that lets this user read a file again, when it is closed by its own mode or by that of a directory above
 * it; undefined when both belong to somebody else.
 */
export function openUpHint(path: string): string | undefined {
  const closed = ancestorsOf(path).find((directory) => !isAccessible(directory, constants.X_OK));
  const [at, mode] = closed === undefined ? [path, "u+r"] : [closed, "u+rwx"];
  return statSync(at).uid === process.geteuid?.() ? formatCommand(["chmod", mode, at]) : undefined;
}

/** Returns the directories that lead to a path, the outermost first. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...ancestorsOf(parent), parent];
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
