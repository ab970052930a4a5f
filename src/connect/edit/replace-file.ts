import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";
import { findExistingParent, listDirectory } from "./directories.ts";

interface Replacement {
  bytes: Uint8Array;
  mode: number;
  /** null for the user of this process. */
  owner: { uid: number; gid: number } | null;
  /** Runs just before the rename; an error it throws aborts the replacement. */
  check(): void;
}

/**
 * Replaces a file atomically: a reader sees the old file or the new one, even after a crash. On failure nothing is left
 * behind. write-file-atomic needs Node 22 and has no hook for a check before the rename.
 */
export function replaceFile(path: string, { bytes, mode, owner, check }: Replacement): void {
  removeStaleTemporaryFiles(path);
  // removeStaleTemporaryFiles checks by the process ID whether the writer is alive.
  const temporary = `${path}.tollkeeper-${process.pid}`;
  try {
    const fd = fs.openSync(temporary, "wx", 0o600);
    try {
      fs.writeFileSync(fd, bytes);
      const { uid, gid } = fs.fstatSync(fd);
      if (owner !== null && (uid !== owner.uid || gid !== owner.gid)) fs.fchownSync(fd, owner.uid, owner.gid);
      // After fchown, which clears mode bits; not through open, where the umask applies.
      fs.fchmodSync(fd, mode);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    check();
    fs.renameSync(temporary, path);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

/** Makes a rename durable, which is recorded in the directory. */
function syncDirectory(path: string): void {
  // Windows cannot open directories.
  if (process.platform === "win32") return;
  const fd = fs.openSync(path, fs.constants.O_RDONLY);
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Removes the temporary files for `path` that killed processes left behind. */
export function removeStaleTemporaryFiles(path: string): void {
  const prefix = `${basename(path)}.tollkeeper-`;
  for (const name of listDirectory(dirname(path))) {
    const pid = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    if (/^\d+$/.test(pid) && !isOtherProcessAlive(Number(pid)))
      fs.rmSync(join(dirname(path), name), { force: true });
  }
}

/** True for another live process. Our own file is stale: we replace one file at a time, and clean up first. */
function isOtherProcessAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/**
 * Turns an error from writing a file into a Failure; a Failure stays as it is.
 * @param realPath `path` with symbolic links resolved
 */
export function toWriteFailure(path: string, realPath: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const [why, hint] = explainWriteError(error, findExistingParent(realPath));
  return new Failure(`cannot change ${path}: ${why}`, hint, { cause: error });
}

function explainWriteError(error: unknown, directory: string): [why: string, hint: string] {
  const quoted = quoteForShell(directory);
  if (hasCode(error, "ENOSPC"))
    return ["the disk is full", `free some space; see what uses it with: df -h ${quoted}`];
  const check = `check its directory with: ls -ld ${quoted}`;
  if (!hasCode(error, "EACCES")) return [messageOf(error), check];
  const isOwn = fs.statSync(directory).uid === process.geteuid?.();
  return ["permission denied", isOwn ? `make it writable with: chmod u+rwx ${quoted}` : check];
}
