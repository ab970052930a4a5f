import fs from "node:fs";
import { dirname } from "node:path";
import { codeOf, Failure, hasCode } from "../../core/failure.ts";
import { fixForeignFile } from "../../core/foreign-file.ts";
import { formatCommand, quoteForShell } from "../../core/text/shell-words.ts";
import { findExistingParent, makeDirectory, removeEmptyDirectories } from "./directories.ts";
import { replaceToolFile, toWriteFailure } from "./replace-file.ts";
import { reasonOf } from "../../core/system-error.ts";

/** A tool's configuration file, which may not exist. */
export interface TargetFile {
  /** The path that the tool uses. */
  path: string;
  /** `path` with symbolic links resolved: the file to read and replace. */
  realPath: string;
  /** null when the file does not exist. */
  existing: ExistingFile | null;
  /** The parent directories that do not exist, the outermost first. */
  missingDirectories: readonly string[];
}

interface ExistingFile {
  bytes: Buffer;
  /** The decoded bytes, including a byte order mark. */
  text: string;
  stats: fs.Stats;
}

/** Real configurations are a thousand times smaller. */
const MAX_BYTES = 4 * 1024 * 1024;

const NEW_FILE = 0o600;
const OWNER_WRITES = 0o200;

/**
 * Reads a regular UTF-8 file, following symbolic links. The file may be missing, but not the target of a link, which may
 * only be unmounted.
 * @throws Failure when the file cannot be read, or cannot be a configuration
 */
export function readTarget(path: string): TargetFile {
  const link = lstat(path);
  if (link === undefined)
    return { path, realPath: path, existing: null, missingDirectories: findMissingDirectories(path) };
  const realPath = followLinks(path);
  const bytes = readRegular(path, realPath);
  const text = decode(path, bytes);
  return { path, realPath, existing: { bytes, text, stats: fs.statSync(realPath) }, missingDirectories: [] };
}

/** Returns a file's text; null when it does not exist or cannot be read. */
export function tryReadText(path: string): string | null {
  try {
    return readTarget(path).existing?.text ?? null;
  } catch (error) {
    if (error instanceof Failure || codeOf(error) !== null) return null;
    throw error;
  }
}

function lstat(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (!hasCode(error, "ENOTDIR")) throw error;
    const parent = findExistingParent(path);
    const hint = `inspect it with: ls -ld ${quoteForShell(parent)}`;
    throw new Failure(`${path} cannot exist, because ${parent} is not a directory`, hint, { cause: error });
  }
}

function findMissingDirectories(path: string): string[] {
  const directory = dirname(path);
  const isExisting = directory === findExistingParent(path);
  return isExisting ? [] : [...findMissingDirectories(directory), directory];
}

function followLinks(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch (error) {
    const why = hasCode(error, "ENOENT")
      ? "points at a file that does not exist"
      : `cannot be followed: ${reasonOf(error)}`;
    throw new Failure(`${path} is a link that ${why}`, `inspect it with: ls -l ${quoteForShell(path)}`, {
      cause: error,
    });
  }
}

function readRegular(path: string, realPath: string): Buffer {
  const fail = (words: string, hint = `inspect it with: ls -lL ${quoteForShell(path)}`) =>
    new Failure(`${path} ${words}`, hint);
  let fd: number;
  try {
    // Without O_NONBLOCK, opening a named pipe would block until something writes to it.
    fd = fs.openSync(realPath, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (hasCode(error, "EACCES")) throw fail("cannot be read: permission denied", letRead(path, realPath));
    throw error;
  }
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw fail("is not a regular file");
    if (stats.size > MAX_BYTES) throw fail("is larger than 4 MiB, too large for a configuration");
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function letRead(path: string, realPath: string): string {
  const self = process.geteuid?.();
  const { uid } = fs.statSync(realPath);
  if (self === undefined || uid === self)
    return `make it readable with: chmod u+r ${quoteForShell(realPath)}`;
  return `it belongs to another user; ${fixOwner(path, realPath, uid, self)}`;
}

/** As {@link fixForeignFile}. What a link points at may be a file of the system: it is to stay as it is, whoever owns it. */
function fixOwner(path: string, realPath: string, owner: number, self: number): string {
  if (lstat(path)?.isSymbolicLink() !== true) return fixForeignFile(realPath, owner, self);
  const away = formatCommand(["mv", path, `${path}.away`]);
  return `it is a link to ${realPath}; put a file of your own in its place, after: ${away}`;
}

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const hint = `find the bytes with: grep -naxv '.*' ${quoteForShell(path)}`;
    throw new Failure(`${path} is not in UTF-8 and was not changed`, hint, { cause: error });
  }
}

/**
 * Checks that a file may be replaced.
 * @throws Failure for another user's file, for a read-only one, and for one with hard links, which would keep the old text
 */
export function requireWritable({ path, realPath, existing }: TargetFile): void {
  if (existing === null) return;
  const { uid, mode, nlink } = existing.stats;
  const self = process.getuid?.();
  if (self !== undefined && self !== 0 && uid !== self) {
    throw new Failure(`${path} belongs to another user`, fixOwner(path, realPath, uid, self));
  }
  if ((mode & OWNER_WRITES) === 0) {
    throw new Failure(`${path} is read-only`, `make it writable with: chmod u+w ${quoteForShell(realPath)}`);
  }
  if (nlink > 1) {
    const [file, copy] = [realPath, `${realPath}.new`].map((name) => quoteForShell(name));
    throw new Failure(
      `${path} has other names (hard links), which would keep the old text`,
      `make it one file: cp -p ${file} ${copy} && mv ${copy} ${file}`,
    );
  }
}

/**
 * Writes a file's new text, or removes the file for null. Keeps mode and owner. Only the owner can access a new file and
 * the directories created for it.
 * @throws Failure, with nothing changed, when the file cannot be written or is no longer what was read
 */
export function writeTarget(target: TargetFile, text: string | null): void {
  requireWritable(target);
  const { realPath, existing } = target;
  const created: string[] = [];
  try {
    // Another file of the same connection may have created a directory in the meantime.
    for (const directory of target.missingDirectories) if (makeDirectory(directory)) created.push(directory);
    if (text === null) {
      requireUnchanged(target);
      return fs.rmSync(realPath);
    }
    const mode = existing === null ? NEW_FILE : existing.stats.mode & 0o7777;
    replaceToolFile(realPath, Buffer.from(text), {
      mode,
      owner: existing?.stats ?? null,
      check: () => requireUnchanged(target),
    });
  } catch (error) {
    removeEmptyDirectories(created);
    throw toWriteFailure(target.path, realPath, error);
  }
}

/** The tool or the user may have written the file while the change was under review. */
function requireUnchanged({ path, realPath, existing }: TargetFile): void {
  let bytes: Buffer | null = null;
  try {
    bytes = fs.readFileSync(realPath);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
  const isUnchanged = bytes === null ? existing === null : existing?.bytes.equals(bytes) === true;
  if (isUnchanged) return;
  throw new Failure(
    `${path} was changed in the meantime; tollkeeper did not touch it`,
    "run the same command again",
  );
}
