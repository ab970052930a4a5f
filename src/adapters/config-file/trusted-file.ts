import { constants, readFileSync } from "node:fs";
import type { Stats } from "node:fs";
import { open } from "node:fs/promises";

/** A file whose writers we trust, read in one go. */
export interface TrustedFile {
  text: string;
  /** Can nobody but its owner read it? Windows has no mode bits to ask for, and says yes. */
  isPrivate: boolean;
}

const WRITABLE_BY_ALL = 0o002;
const OPEN_TO_OTHERS = 0o077;

/**
 * Reads a file that decides where requests go, and refuses one that others may write (facts/threats.md E4). Asks the
 * opened file, not its path, so that what was judged is what is read. Throws an Error saying what is wrong.
 */
export async function readTrusted(path: string): Promise<TrustedFile> {
  // Without O_NONBLOCK a named pipe would hold us until somebody writes to it.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    refuseDistrusted(path, await handle.stat());
    const text = await handle.readFile("utf8");
    // Opened up to others in the meantime, it may hold what they wrote.
    const stats = await handle.stat();
    refuseDistrusted(path, stats);
    const isPrivate = process.getuid === undefined || (stats.mode & OPEN_TO_OTHERS) === 0;
    return { text: text.replace(/^\uFEFF/, ""), isPrivate };
  } finally {
    await handle.close();
  }
}

function refuseDistrusted(path: string, stats: Stats): void {
  const distrust = findDistrust(path, stats);
  if (distrust !== null) throw new Error(distrust);
}

function findDistrust(path: string, stats: Stats): string | null {
  if (!stats.isFile()) return "it is not a regular file";
  const self = process.getuid?.();
  // Windows has neither owners nor mode bits to ask for.
  if (self === undefined) return null;
  if (stats.uid !== self && stats.uid !== 0) return `it belongs to ${whoseElse(path, self)}`;
  if ((stats.mode & WRITABLE_BY_ALL) !== 0) return `anybody may change it; run \`chmod go-w ${path}\``;
  return null;
}

/** In a user namespace without root, which the service's sandbox is, root's files are nobody's, as those of all others are. */
function whoseElse(path: string, self: number): string {
  if (isRootMapped()) return `another user; run \`chown ${self} ${path}\``;
  return "nobody in the sandbox of the service; run `tollkeeper service install`, which leaves the sandbox out if it is root's";
}

/** Each line of the map is a range: its first uid in here, the one outside, and how many (user_namespaces(7)). */
function isRootMapped(): boolean {
  try {
    return /^\s*0\s/m.test(readFileSync("/proc/self/uid_map", "utf8"));
  } catch {
    // Not Linux.
    return true;
  }
}
