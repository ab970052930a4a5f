import * as fs from "node:fs";
import { dirname } from "node:path";
import { Failure, hasCode, codeOf } from "../../core/failure.ts";
import { fixForeignFile } from "../../core/foreign-file.ts";
import { reasonOf } from "../../core/system-error.ts";
import { formatCommand, quoteForShell } from "../../core/text/shell-words.ts";
import { correctHome, letWrite } from "../open-up.ts";
import { isInSandbox } from "../user-namespace.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = fs.constants;
const PERMISSIONS = 0o777;
const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;

/**
 * Creates the directory with mode 0700, whatever the umask. Throws a Failure when it cannot be created, for whatever
 * {@link ensureSafeDirectory} refuses, and when it exists and is open to others: they may be meant to use it, so its mode is
 * only changed by the person who gave it (SECURITY.md E4).
 */
export function ensurePrivateDirectory(directory: string): void {
  const { mode } = ensureSafeDirectory(directory);
  if ((mode & OPEN_TO_OTHERS) !== 0 && !isWindows) throw withLooseMode(directory, "is open to other users");
}

/**
 * As {@link ensurePrivateDirectory}, but accepts a directory that others can only read. One that is opened while the daemon
 * runs must not cost records: the files in it are still ours alone. Throws a Failure when others could have put files into
 * it: a symbolic link, another user's directory, or one that others can write.
 */
export function ensureSafeDirectory(directory: string): fs.Stats {
  try {
    const created = fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (created !== undefined) fs.chmodSync(directory, 0o700);
  } catch (cause) {
    throw unlessDiskFault(cause, directory, `cannot create the ledger directory ${directory}`);
  }
  const found = fs.lstatSync(directory);
  if (!found.isDirectory()) {
    throw new Failure(
      `the ledger directory ${directory} is a symbolic link`,
      `set "ledger": {"directory": ...} to the real directory with: tollkeeper config edit`,
    );
  }
  refuseOtherOwners(directory, found);
  if ((found.mode & WRITABLE_BY_OTHERS) !== 0 && !isWindows) {
    throw withLooseMode(directory, "can be written by other users");
  }
  return found;
}

/**
 * Throws a Failure when the directory is not writable. A running daemon must not move its ledger there, since the old
 * directory still accepts records; a daemon that starts there keeps records in memory until it is writable.
 */
export function refuseUnwritable(directory: string): void {
  try {
    fs.accessSync(directory, fs.constants.W_OK);
  } catch (cause) {
    const why = reasonOf(cause);
    throw new Failure(
      `the ledger directory ${directory} is not writable: ${why}`,
      unwritableHint(directory),
      {
        cause,
      },
    );
  }
}

/**
 * Opens a file for reading and appending, and creates it if necessary, with mode 0600 whatever the umask. Throws a Failure
 * for a symbolic link, anything but a regular file, another user's file, and a file with a second hard link, which is as
 * dangerous as a symbolic link and harder to see (Postfix's safe_open does the same). Throws an errno error for a disk
 * fault.
 */
export function openPrivateFile(path: string): number {
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

/** Errors of the disk or of system limits. They are temporary, so a daemon keeps running in spite of them. */
const DISK_FAULTS: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE"]);

/** Windows has neither owners nor mode bits. */
const isWindows = process.platform === "win32";

function openNoFollow(path: string): number {
  try {
    return fs.openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  } catch (error) {
    if (hasCode(error, "ELOOP")) {
      throw new Failure(
        `tollkeeper does not write to ${path}: it is a symbolic link`,
        `rm ${quoteForShell(path)}`,
        {
          cause: error,
        },
      );
    }
    if (hasCode(error, "EISDIR")) throw notAFile(path);
    throw unlessDiskFault(error, dirname(path), `cannot open ${path}`);
  }
}

function notAFile(path: string): Failure {
  return new Failure(
    `tollkeeper does not write to ${path}: it is not a regular file`,
    `mv ${quoteForShell(path)} ${quoteForShell(`${path}.away`)}`,
  );
}

function hasSecondName(path: string): Failure {
  return new Failure(
    `tollkeeper does not write to ${path}: it is a hard link to a file with another name`,
    `cp ${quoteForShell(path)} ${quoteForShell(`${path}.own`)} && mv ${quoteForShell(`${path}.own`)} ${quoteForShell(path)}`,
  );
}

function withLooseMode(directory: string, what: string): Failure {
  return new Failure(`the ledger directory ${directory} ${what}`, `chmod 700 ${quoteForShell(directory)}`);
}

function refuseOtherOwners(path: string, found: fs.Stats): void {
  const self = process.geteuid?.();
  if (self === undefined || found.uid === self) return;
  throw new Failure(
    `tollkeeper does not write to ${path}: it belongs to another user (uid ${found.uid})`,
    fixForeignFile(path, found.uid, self),
  );
}

function unlessDiskFault(error: unknown, directory: string, message: string): unknown {
  if (!(error instanceof Error)) return error;
  if (DISK_FAULTS.has(codeOf(error))) return error;
  return new Failure(`${message}: ${reasonOf(error)}`, unwritableHint(directory), { cause: error });
}

function unwritableHint(directory: string): string {
  const elsewhere = "or set another directory with: tollkeeper config edit";
  if (isInSandbox())
    return `give the service's sandbox access with: tollkeeper service install; ${elsewhere}`;
  const home = correctHome(directory);
  if (home !== null) return home;
  const open = letWrite(directory);
  if (open !== null) return `make it writable with: ${open}; ${elsewhere}`;
  return `see the permissions with: ${formatCommand(["ls", "-ld", dirname(directory), directory])}; ${elsewhere}`;
}
