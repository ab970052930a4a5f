import fs from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "./core/failure.ts";
import { attribute } from "./core/system-error.ts";

/** How the new file comes to its place. */
interface Replacement {
  /** Whatever the umask; 0o600 if left out. */
  mode?: number;
  /** null, or left out, for the user of this process. */
  owner?: { uid: number; gid: number } | null;
  /**
   * Where the new file is written first, in the same directory; `PATH.PID.new` if left out. Only one writer at a time may use it: what is
   * there is a crash's, and removed.
   */
  unfinished?: string;
  /** Runs just before the rename. What it throws aborts the replacement. */
  check?(): void;
}

/**
 * Replaces a file at once and for good: whoever reads it, also after a power cut, sees all of the old contents or all of the new. Only a file
 * that is a mount point by itself is overwritten in place. On failure nothing is left behind. Throws an errno error.
 * write-file-atomic needs Node 22 and has no hook for a check before the rename.
 */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, owner = null, unfinished = `${path}.${process.pid}.new`, check }: Replacement = {},
): void {
  try {
    fs.rmSync(unfinished, { force: true });
    // Never through a link that somebody has put there.
    const fd = fs.openSync(unfinished, "wx", 0o600);
    try {
      fs.writeFileSync(fd, content);
      const { uid, gid } = fs.fstatSync(fd);
      if (owner !== null && (uid !== owner.uid || gid !== owner.gid)) fs.fchownSync(fd, owner.uid, owner.gid);
      // After fchown, which clears mode bits; not through open, where the umask applies.
      fs.fchmodSync(fd, mode);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    check?.();
    putInPlace(unfinished, path);
  } catch (error) {
    fs.rmSync(unfinished, { force: true });
    throw attribute(error, path);
  }
}

/** Like {@link replaceFile}, but asynchronous, and always with mode 0600. Calls for one path must not overlap. Rejects with an errno error. */
export async function replaceFileSlowly(path: string, content: string, unfinished: string): Promise<void> {
  try {
    await rm(unfinished, { force: true });
    await writeFile(unfinished, content, { mode: 0o600, flag: "wx", flush: true });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw attribute(error, path);
  }
  if (process.platform === "win32") return;
  const directory = await open(dirname(path));
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Puts a complete and flushed file in the place of another in the same directory, as {@link replaceFile} does. Throws an errno error. */
export function putInPlace(unfinished: string, path: string): void {
  try {
    fs.renameSync(unfinished, path);
  } catch (error) {
    // A mount point by itself, as a container's settings file often is (rename(2)).
    if (!hasCode(error, "EBUSY")) throw error;
    overwriteFile(path, fs.readFileSync(unfinished));
    fs.rmSync(unfinished);
  }
  syncDirectory(dirname(path));
}

/** Gives a file other contents in place. When that fails, it gets the former ones again. */
function overwriteFile(path: string, bytes: Uint8Array): void {
  const former = fs.readFileSync(path);
  const fd = fs.openSync(path, "r+");
  try {
    overwrite(fd, bytes);
  } catch (error) {
    overwrite(fd, former);
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

/** The file is never empty in between, which would look like one without settings. */
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
