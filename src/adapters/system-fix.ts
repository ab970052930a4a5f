import { execFileSync } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Failure } from "../core/failure.ts";
import { findFix, type PathProbes } from "../core/system-error.ts";
import { formatCommand } from "../core/text/shell-words.ts";
import { correctHome, letChange, letRead, letWrite } from "./open-up.ts";

/**
 * Returns what to type about an error: a Failure's own hint, or what fixes the error of the system that is the error or its cause.
 * undefined where nothing is known. It looks at the file that the error names.
 */
export function fixOf(error: unknown): string | undefined {
  if (error instanceof Failure && error.hint !== undefined) return error.hint;
  return findFix(error, PROBES) ?? undefined;
}

const PROBES: PathProbes = {
  open: (path) => correctHome(path) ?? letRead(path) ?? letChange(path) ?? letWrite(dirname(path)),
  unlock: (path) => [path, dirname(path)].map(unlockCommand).find((command) => command !== null) ?? null,
  inspect(path) {
    const found = existing(absolute(path));
    return formatCommand(["ls", "-ld", ...new Set([dirname(found), found])]);
  },
  list(path) {
    const directory = dirname(absolute(path));
    const found = existing(directory);
    const missing = found === directory ? "" : `there is no directory ${directory} either; `;
    return `${missing}to see what is there, type: ${formatCommand(["ls", "-a", found])}`;
  },
  // findmnt belongs to util-linux.
  showMount: (path) =>
    process.platform === "linux" && path !== null
      ? formatCommand(["findmnt", "-T", existing(path)])
      : formatCommand(["mount"]),
  showSpace: (path) => formatCommand(["df", "-h", ...(path === null ? [] : [existing(path)])]),
};

/** A relative path would mean another file in another directory. The working directory may have been deleted. */
function absolute(path: string): string {
  try {
    return resolve(path);
  } catch {
    return path;
  }
}

/** Returns the path, or its nearest parent that exists. */
function existing(path: string): string {
  return isThere(path) || dirname(path) === path ? path : existing(dirname(path));
}

/** True for a link whose target is missing, too. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** The attributes by which a file can only be appended to, or not be changed at all: those of chattr(1). */
function unlockCommand(path: string): string | null {
  if (process.platform !== "linux" || !existsSync(path)) return null;
  const [attributes = ""] = listAttributes(path).split(" ");
  const [locked] = attributes.match(/[ia]/) ?? [];
  return locked === undefined ? null : formatCommand(["sudo", "chattr", `-${locked}`, path]);
}

function listAttributes(path: string): string {
  try {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    return execFileSync("lsattr", ["-d", "--", path], { encoding: "utf8", stdio: [...stdio], timeout: 2000 });
  } catch {
    // Not every file system has attributes, nor every system the program.
    return "";
  }
}
