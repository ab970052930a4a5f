import * as fs from "node:fs";
import { Failure } from "../../core/failure.ts";
import { hasCode, messageOf } from "../../core/thrown.ts";
import { parseTokenEntries, type TokenEntry } from "../../core/identity/token-entry.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
const OPEN_TO_OTHERS = 0o077;

/**
 * Every token that the file names; none where there is no file. Whoever could write it could let himself in: throws a
 * Failure for a symbolic link, anything but a regular file, files of other owners, one that has a second name elsewhere or
 * that others may read (facts/threats.md E4), and one that tollkeeper did not write.
 */
export function readEntries(path: string): TokenEntry[] {
  const content = readOwn(path);
  if (content === null) return [];
  const entries = parseTokenEntries(content);
  if (entries !== null) return entries;
  const hint = `mv '${path}' '${path}.away', and give each tool a new one with: tollkeeper token add TOOL`;
  throw new Failure(`the local tokens in ${path} cannot be read: tollkeeper did not write them so`, hint);
}

/** null where there is none. Asks the opened file, not its path, so that what was judged is what is read. */
function readOwn(path: string): string | null {
  let fd: number | null = null;
  try {
    fd = openNoFollow(path);
    refuseForeign(path, fs.fstatSync(fd));
    return fs.readFileSync(fd, "utf8");
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (hasCode(error, "ENOENT")) return null;
    const message = `the local tokens in ${path} cannot be read: ${messageOf(error)}`;
    throw new Failure(message, `look at: ls -l '${path}'`, { cause: error });
  } finally {
    if (fd !== null) fs.closeSync(fd);
  }
}

function openNoFollow(path: string): number {
  try {
    // Without O_NONBLOCK a named pipe would hold us until somebody writes to it.
    return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (!hasCode(error, "ELOOP")) throw error;
    throw new Failure(`${path} is not used: it is a symbolic link`, `rm '${path}'`, { cause: error });
  }
}

function refuseForeign(path: string, stats: fs.Stats): void {
  const found = findDistrust(path, stats);
  if (found !== null) throw new Failure(`${path} is not used: ${found.distrust}`, found.hint);
}

function findDistrust(path: string, stats: fs.Stats): { distrust: string; hint: string } | null {
  if (!stats.isFile()) return { distrust: "it is not a regular file", hint: `mv '${path}' '${path}.away'` };
  const self = process.geteuid?.();
  // Windows has neither owners nor mode bits to ask for.
  if (self === undefined) return null;
  if (stats.uid !== self) {
    const distrust = `it belongs to another user (uid ${stats.uid})`;
    return { distrust, hint: `sudo chown ${self} '${path}'` };
  }
  if (stats.nlink > 1) {
    const distrust = "it is a hard link to a file that has another name";
    return { distrust, hint: `cp '${path}' '${path}.own' && mv '${path}.own' '${path}'` };
  }
  if ((stats.mode & OPEN_TO_OTHERS) === 0) return null;
  return { distrust: "it is open to other users", hint: `chmod 600 '${path}'` };
}
