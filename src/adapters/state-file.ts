import * as fs from "node:fs";
import { dirname } from "node:path";
import { hasCode } from "../core/failure.ts";
import { about } from "../core/system-error.ts";
import { replaceFile } from "../replace-file.ts";

/** Others may not write to what {@link writeStateFile} has written. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Reads a file in which the daemon keeps what must survive a restart; null when there is none. Throws an errno error, and an Error
 * for a file that somebody else can write to, or has written (SECURITY.md E4).
 */
export function readStateFile(path: string): string | null {
  try {
    const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    try {
      const { uid, mode } = fs.fstatSync(fd);
      const self = process.geteuid?.();
      if (self !== undefined && (uid !== self || (mode & WRITABLE_BY_OTHERS) !== 0))
        throw new Error("other users can change it");
      return fs.readFileSync(fd, "utf8");
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

/** Replaces the file at once, with mode 0600: after a crash it has all of the old text or all of the new. Throws an errno error. */
export function writeStateFile(path: string, text: string): void {
  about(path, () => fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 }));
  // Only the daemon writes it, and there is one.
  replaceFile(path, text, { unfinished: `${path}.new` });
}
