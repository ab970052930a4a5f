import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { Failure, hasCode } from "../../core/failure.ts";
import { attribute, reasonOf } from "../../core/system-error.ts";
import { listDirectory } from "./directories.ts";

interface Replacement {
  bytes: Uint8Array;
  mode: number;
  /** null for the user of this process. */
  owner: { uid: number; gid: number } | null;
  /** Runs just before the rename; an error it throws aborts the replacement. */
  check(): void;
}

/**
 * Replaces a file atomically: a reader sees the old file or the new one, even after a crash, unless the file
 * is a mount point. On failure nothing is left
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
    moveInto(temporary, path, bytes);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

/**
 * Renames the complete new file over the old one. Where that is a mount point by itself, as a container's settings file often is, the
 * kernel refuses (rename(2), EBUSY): there the old file gets the new contents in place, and the complete copy stays until it has them.
 */
function moveInto(temporary: string, path: string, bytes: Uint8Array): void {
  try {
    fs.renameSync(temporary, path);
  } catch (error) {
    if (!hasCode(error, "EBUSY")) throw error;
    const former = fs.readFileSync(path);
    const fd = fs.openSync(path, "r+");
    try {
      overwrite(fd, bytes);
    } catch (cause) {
      overwrite(fd, former);
      throw cause;
    } finally {
      fs.closeSync(fd);
    }
    fs.rmSync(temporary);
  }
}

/** Gives an open file other contents. It is never empty in between, which would look like a file without settings. */
function overwrite(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += fs.writeSync(fd, bytes, done, bytes.length - done, done);
  fs.ftruncateSync(fd, bytes.length);
  fs.fsyncSync(fd);
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
 * Turns an error from writing a file into a Failure, whose cause says what to type; a Failure stays as it is.
 * @param realPath `path` with symbolic links resolved
 */
export function toWriteFailure(path: string, realPath: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const cause = attribute(error, realPath);
  return new Failure(`cannot change ${path}: ${reasonOf(error)}`, undefined, { cause });
}
