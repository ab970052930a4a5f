import * as fs from "node:fs";
import { Failure } from "../../core/failure.ts";
import { hasCode } from "../../core/thrown.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = fs.constants;
const PERMISSIONS = 0o777;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Makes the directory, readable by its owner alone whatever the umask is. Throws a Failure when it cannot be made or
 * when others could plant files in it: a symbolic link, another owner, writable by others (facts/threats.md E4).
 */
export function secureDirectory(directory: string): void {
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unlessDiskFault(cause, `cannot make the ledger directory ${directory}`);
  }
  const found = fs.lstatSync(directory);
  if (!found.isDirectory()) {
    throw new Failure(
      `the ledger directory ${directory} is a symbolic link`,
      `name the real directory as "ledger": {"directory": ...} (tollkeeper config edit)`,
    );
  }
  refuseOtherOwners(directory, found);
  const mode = found.mode & PERMISSIONS;
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && !isWindows) {
    throw new Failure(
      `the ledger directory ${directory} can be written by other users`,
      `chmod 700 '${directory}'`,
    );
  }
  if (mode !== 0o700) fs.chmodSync(directory, 0o700);
}

/**
 * Throws a Failure when nothing can be written in a directory. To move to one like that is to lose records, while the old
 * one takes them; a daemon that starts on one waits for it.
 */
export function refuseUnwritable(directory: string): void {
  try {
    fs.accessSync(directory, fs.constants.W_OK);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(`the ledger directory ${directory} cannot be written to: ${why}`, UNWRITABLE_HINT, {
      cause,
    });
  }
}

/**
 * Opens a file for reading and appending, made where it is missing, mode 0600 whatever the umask is. Throws a Failure
 * for a symbolic link, anything but a regular file, files of other owners, and one that has a second name elsewhere
 * (as Postfix's safe_open does: a hard link is a symbolic link that nobody sees); an errno error when the disk refuses.
 */
export function openOwnFile(path: string): number {
  const fd = openNoFollow(path);
  try {
    const found = fs.fstatSync(fd);
    if (!found.isFile()) throw notAFile(path);
    refuseOtherOwners(path, found);
    if (found.nlink > 1) throw hasSecondName(path);
    if ((found.mode & PERMISSIONS) !== 0o600) fs.fchmodSync(fd, 0o600);
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** Faults of the disk rather than of the set-up: they pass, so a daemon carries on in spite of them. */
const DISK_FAULTS: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE"]);

/** A service's sandbox lets write to the directories that it was installed with. */
const UNWRITABLE_HINT =
  "check its owner and permissions, or name another directory (tollkeeper config edit); for the service then type: tollkeeper service install";

/** Windows has neither owners nor modes in this form. */
const isWindows = process.platform === "win32";

function openNoFollow(path: string): number {
  try {
    return fs.openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  } catch (error) {
    if (hasCode(error, "ELOOP")) {
      throw new Failure(`${path} is a symbolic link and is not written to`, `rm '${path}'`, {
        cause: error,
      });
    }
    if (hasCode(error, "EISDIR")) throw notAFile(path);
    throw unlessDiskFault(error, `cannot open ${path}`);
  }
}

function notAFile(path: string): Failure {
  return new Failure(`${path} is not a regular file and is not written to`, `mv '${path}' '${path}.away'`);
}

function hasSecondName(path: string): Failure {
  return new Failure(
    `${path} is a hard link to a file that has another name, and is not written to`,
    `cp '${path}' '${path}.own' && mv '${path}.own' '${path}'`,
  );
}

function refuseOtherOwners(path: string, found: fs.Stats): void {
  const self = process.geteuid?.();
  if (self === undefined || found.uid === self) return;
  throw new Failure(
    `${path} belongs to another user (uid ${found.uid}) and is not written to`,
    `sudo chown ${self} '${path}'`,
  );
}

function unlessDiskFault(error: unknown, message: string): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (DISK_FAULTS.has(code)) return error;
  return new Failure(`${message}: ${error.message}`, UNWRITABLE_HINT, { cause: error });
}
