import fs from "node:fs";
import { dirname } from "node:path";
import { Failure } from "../../core/failure.ts";
import { hasCode } from "../../core/thrown.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";

/** A tool's configuration file, which may not exist. */
export interface TargetFile {
  /** As the tool knows it. */
  path: string;
  /** The path after symbolic links, which is read and replaced. */
  realPath: string;
  /** null when the file does not exist. */
  existing: ExistingFile | null;
  /** The parent directories that do not exist, the outermost first. */
  missingDirectories: readonly string[];
}

export interface ExistingFile {
  bytes: Buffer;
  /** The decoded bytes, including a byte order mark. */
  text: string;
  stats: fs.Stats;
}

/** Real configurations are a thousand times smaller. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads a regular UTF-8 file, following symbolic links. The file may be missing, but not the target of a link: that may
 * come back.
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

function lstat(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (!hasCode(error, "ENOTDIR")) throw error;
    const parent = findExistingParent(path);
    const hint = `look at it with: ls -ld ${quoteForShell(parent)}`;
    throw new Failure(`${path} cannot be there, as ${parent} is no directory`, hint, { cause: error });
  }
}

function findMissingDirectories(path: string): string[] {
  const missing: string[] = [];
  for (let at = dirname(path); at !== findExistingParent(path); at = dirname(at)) missing.unshift(at);
  return missing;
}

/** Returns the nearest parent that exists. */
function findExistingParent(path: string): string {
  const parent = dirname(path);
  return parent === dirname(parent) || fs.existsSync(parent) ? parent : findExistingParent(parent);
}

function followLinks(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch (error) {
    const why = hasCode(error, "ENOENT") ? "leads to a file that is not there" : "cannot be followed";
    throw new Failure(`${path} is a link that ${why}`, `look at it with: ls -l ${quoteForShell(path)}`, {
      cause: error,
    });
  }
}

function readRegular(path: string, realPath: string): Buffer {
  const fail = (words: string) =>
    new Failure(`${path} ${words}`, `look at it with: ls -lL ${quoteForShell(path)}`);
  // Without O_NONBLOCK, opening a named pipe would block until something writes to it.
  const fd = openOr(realPath, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0), fail);
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw fail("is not a regular file");
    if (stats.size > MAX_BYTES) throw fail("is larger than 4 MiB, too large for a configuration");
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function openOr(realPath: string, flags: number, fail: (words: string) => Failure): number {
  try {
    return fs.openSync(realPath, flags);
  } catch (error) {
    if (hasCode(error, "EACCES")) throw fail("cannot be read: permission denied");
    throw error;
  }
}

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const hint = `find the bytes with: grep -naxv '.*' ${quoteForShell(path)}`;
    throw new Failure(`${path} is not in UTF-8, and is not touched`, hint, { cause: error });
  }
}
