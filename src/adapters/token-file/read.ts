import * as fs from "node:fs";
import { Failure, hasCode } from "../../core/failure.ts";
import { fixForeignFile } from "../../core/foreign-file.ts";
import { isOfLaterVersion, parseTokenEntries, type TokenEntry } from "../../core/identity/token-entry.ts";
import { reasonOf } from "../../core/system-error.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";
import { fixOf } from "../system-fix.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
const ACCESSIBLE_TO_OTHERS = 0o077;

/**
 * Returns every token in the file; none when the file is missing. Anyone who can write the file can grant themselves access,
 * so this throws a Failure for a symbolic link, anything but a regular file, another owner's file, one with a second hard
 * link, one that other users can access (SECURITY.md E4), and one that tollkeeper did not write.
 */
export function readEntries(path: string): TokenEntry[] {
  const content = readPrivateFile(path);
  if (content === null) return [];
  const entries = parseTokenEntries(content);
  if (entries !== null) return entries;
  if (isOfLaterVersion(content))
    throw new Failure(`${path} was written by a newer tollkeeper`, "use the newer version");
  const hint = `${moveAway(path)}, and add a new token for each tool with: tollkeeper token add TOOL`;
  throw new Failure(`the local tokens in ${path} cannot be read: the file is damaged`, hint);
}

/** Returns null when the file is missing. Checks the open descriptor, not the path, so that it reads the file it checked. */
function readPrivateFile(path: string): string | null {
  let fd: number | null = null;
  try {
    fd = openNoFollow(path);
    refuseUntrusted(path, fs.fstatSync(fd));
    return fs.readFileSync(fd, "utf8");
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (hasCode(error, "ENOENT")) return null;
    const message = `the local tokens in ${path} cannot be read: ${reasonOf(error)}`;
    throw new Failure(message, fixOf(error), { cause: error });
  } finally {
    if (fd !== null) fs.closeSync(fd);
  }
}

function openNoFollow(path: string): number {
  try {
    // Without O_NONBLOCK, opening a named pipe would block until someone opens it for writing.
    return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (!hasCode(error, "ELOOP")) throw error;
    const message = `${path} is not used: it is a symbolic link`;
    throw new Failure(message, `rm ${quoteForShell(path)}`, { cause: error });
  }
}

function refuseUntrusted(path: string, stats: fs.Stats): void {
  const found = findDistrust(path, stats);
  if (found !== null) throw new Failure(`${path} is not used: ${found.distrust}`, found.hint);
}

function findDistrust(path: string, stats: fs.Stats): { distrust: string; hint: string } | null {
  if (!stats.isFile()) return { distrust: "it is not a regular file", hint: moveAway(path) };
  const self = process.geteuid?.();
  // Windows has neither owners nor mode bits.
  if (self === undefined) return null;
  if (stats.uid !== self) {
    const distrust = `it belongs to another user (uid ${stats.uid})`;
    return { distrust, hint: fixForeignFile(path, stats.uid, self) };
  }
  if (stats.nlink > 1) {
    const distrust = "it is a hard link to a file with another name";
    const [file, copy] = [quoteForShell(path), quoteForShell(`${path}.own`)];
    return { distrust, hint: `cp ${file} ${copy} && mv ${copy} ${file}` };
  }
  if ((stats.mode & ACCESSIBLE_TO_OTHERS) === 0) return null;
  return { distrust: "it is open to other users", hint: `chmod 600 ${quoteForShell(path)}` };
}

function moveAway(path: string): string {
  return `mv ${quoteForShell(path)} ${quoteForShell(`${path}.away`)}`;
}
