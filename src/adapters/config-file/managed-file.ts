import type { Stats } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure, hasCode } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { isInSandbox, overflowUid } from "../user-namespace.ts";
import { readFileOnce } from "./trusted-file.ts";

/**
 * The managed configuration file: what an administrator sets for every user of the machine, below their own files. No argument and
 * no variable moves it, because anyone who could set those could choose its content. Windows has none.
 */
export const MANAGED_PATH =
  process.platform === "darwin"
    ? "/Library/Application Support/tollkeeper/config.jsonc"
    : "/etc/tollkeeper/config.jsonc";

/** As many as the kernel follows (path_resolution(7)). */
const MAX_LINKS = 40;

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Reads a managed configuration file; null when there is none. Throws a Failure that says what to type unless root alone can change
 * the file, each directory that leads to it, and the links among them (SECURITY.md B10).
 */
export async function readManagedFile(path: string): Promise<string | null> {
  if (process.platform === "win32") return null;
  try {
    const text = await readFileOnce(path, (stats) => refuseForeign(path, stats));
    await refuseForeignDirectories(path);
    return text;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return null;
    if (!hasCode(error, "EACCES")) throw error;
    const open = `${formatCommand(["sudo", "chmod", "a+rx", dirname(path)])} && ${formatCommand(["sudo", "chmod", "a+r", path])}`;
    throw new Failure("users cannot read it", open, { cause: error });
  }
}

/** Follows a path as the kernel does, link by link. The caller has checked and read the file at its end. */
async function refuseForeignDirectories(path: string): Promise<void> {
  let at = "/";
  let links = 0;
  const steps = [".", ...stepsOf(path)];
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const next = join(at, step);
    const stats = await lstat(next);
    refuseForeign(next, stats);
    if (!stats.isSymbolicLink()) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw new Failure("too many symbolic links lead to it");
    const target = await readlink(next);
    if (target.startsWith("/")) at = "/";
    steps.unshift(...stepsOf(target));
  }
}

function stepsOf(path: string): string[] {
  return path.split("/").filter((step) => step !== "");
}

function refuseForeign(path: string, stats: Stats): void {
  if (!isRoot(stats.uid))
    throw new Failure(
      `${path} does not belong to root`,
      formatCommand(["sudo", "chown", "-h", "root", path]),
    );
  // A link has no mode of its own: who may replace it is up to its directory.
  if (!stats.isSymbolicLink() && (stats.mode & WRITABLE_BY_OTHERS) !== 0)
    throw new Failure(
      `users other than root can write to ${path}`,
      formatCommand(["sudo", "chmod", "go-w", path]),
    );
}

/** In the service's sandbox, files of root and of other users alike belong to the overflow uid. */
function isRoot(uid: number): boolean {
  if (uid === 0) return true;
  return isInSandbox() && uid === overflowUid() && uid !== process.getuid?.();
}
