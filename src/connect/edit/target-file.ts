import fs from "node:fs";
import { dirname } from "node:path";
import { Failure } from "../../core/failure.ts";
import { hasCode } from "../../core/thrown.ts";

/** A tool's file, or the place where one would be. */
export interface TargetFile {
  /** As the tool knows it. */
  path: string;
  /** Where links lead from there; what is read and replaced. */
  place: string;
  /** null: there is none. */
  found: FoundFile | null;
  /** The directories that would have to be made, the outermost first. */
  missing: readonly string[];
}

export interface FoundFile {
  bytes: Buffer;
  /** The same, a byte order mark included. */
  text: string;
  stats: fs.Stats;
}

/** A configuration is a thousand times smaller. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads a regular file in UTF-8, wherever links lead; a file that is not there is none. Throws a Failure where it cannot
 * be had, or is not what a configuration can be. A link that leads nowhere is refused: it may be about to lead somewhere again.
 */
export function readTarget(path: string): TargetFile {
  const link = lstat(path);
  if (link === undefined) return { path, place: path, found: null, missing: missingDirectories(path) };
  const place = followLinks(path);
  const bytes = readRegular(path, place);
  const text = decode(path, bytes);
  return { path, place, found: { bytes, text, stats: fs.statSync(place) }, missing: [] };
}

function lstat(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (!hasCode(error, "ENOTDIR")) throw error;
    const above = nearestAbove(path);
    const hint = `look at it with: ls -ld '${above}'`;
    throw new Failure(`${path} cannot be there, as ${above} is no directory`, hint, { cause: error });
  }
}

function missingDirectories(path: string): string[] {
  const missing: string[] = [];
  for (let at = dirname(path); at !== nearestAbove(path); at = dirname(at)) missing.unshift(at);
  return missing;
}

/** Of what is on the way to it, the last that is there. */
function nearestAbove(path: string): string {
  const above = dirname(path);
  return above === dirname(above) || fs.existsSync(above) ? above : nearestAbove(above);
}

function followLinks(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch (error) {
    const why = hasCode(error, "ENOENT") ? "leads to a file that is not there" : "cannot be followed";
    throw new Failure(`${path} is a link that ${why}`, `look at it with: ls -l '${path}'`, { cause: error });
  }
}

function readRegular(path: string, place: string): Buffer {
  const trouble = (words: string) => new Failure(`${path} ${words}`, `look at it with: ls -lL '${path}'`);
  // Without O_NONBLOCK a named pipe would hold us until somebody writes to it.
  const fd = openOr(place, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0), trouble);
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw trouble("is not a regular file");
    if (stats.size > MAX_BYTES) throw trouble("is larger than 4 MiB, too large for a configuration");
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function openOr(place: string, flags: number, trouble: (words: string) => Failure): number {
  try {
    return fs.openSync(place, flags);
  } catch (error) {
    if (hasCode(error, "EACCES")) throw trouble("cannot be read: permission denied");
    throw error;
  }
}

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const hint = `find the bytes with: grep -naxv '.*' '${path}'`;
    throw new Failure(`${path} is not in UTF-8, and is not touched`, hint, { cause: error });
  }
}
