import fs from "node:fs";
import { dirname } from "node:path";
import { removeLeftovers, unfinishedOf } from "../journal/leftovers.ts";

/** How a file is to be replaced. */
export interface Replacement {
  bytes: Uint8Array;
  mode: number;
  /** Kept where it differs from ours; null where it shall be ours. */
  owner: { uid: number; gid: number } | null;
  /** The last look before the old file goes; what it throws stops everything. */
  check(): void;
}

/**
 * Puts a whole new file in a file's place: whoever reads it meanwhile gets the old one or the new one, also when the machine
 * stops in between. On any failure nothing is left behind. write-file-atomic would do this, too, but wants Node 22, and has
 * no place for a last look before the renaming.
 */
export function replaceFile(path: string, { bytes, mode, owner, check }: Replacement): void {
  removeLeftovers(path);
  const beside = unfinishedOf(path);
  try {
    const fd = fs.openSync(beside, "wx", 0o600);
    try {
      fs.writeFileSync(fd, bytes);
      keepOwner(fd, owner);
      // After the owner, which takes bits away, and despite the person's umask.
      fs.fchmodSync(fd, mode);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    check();
    fs.renameSync(beside, path);
  } catch (error) {
    fs.rmSync(beside, { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

function keepOwner(fd: number, owner: Replacement["owner"]): void {
  const { uid, gid } = fs.fstatSync(fd);
  if (owner !== null && (uid !== owner.uid || gid !== owner.gid)) fs.fchownSync(fd, owner.uid, owner.gid);
}

/** The renaming itself is written in the directory. */
function syncDirectory(path: string): void {
  // Windows opens no directories.
  if (process.platform === "win32") return;
  const fd = fs.openSync(path, fs.constants.O_RDONLY);
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
