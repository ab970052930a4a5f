import { constants, readFileSync } from "node:fs";
import type { Stats } from "node:fs";
import { open } from "node:fs/promises";

/** The content of a file that no untrusted user can write. */
export interface TrustedFile {
  text: string;
  /** True when only the owner can access the file; always true on Windows, which has no mode bits. */
  isPrivate: boolean;
}

/** Far more than anyone writes. Checking a larger file would block the daemon's requests. */
const MAX_BYTES = 1024 * 1024;

const WRITABLE_BY_ALL = 0o002;
const ACCESSIBLE_TO_OTHERS = 0o077;

/**
 * Reads a file that decides where requests go. Throws an Error that says what is wrong when other users can write the file
 * (SECURITY.md E4). Checks the open descriptor, not the path, so that it reads the file it checked.
 */
export async function readTrustedFile(path: string): Promise<TrustedFile> {
  // Without O_NONBLOCK, opening a named pipe would block until someone opens it for writing.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    refuseDistrusted(path, await handle.stat());
    const text = await handle.readFile("utf8");
    // Checked again, because its mode may have changed while it was read.
    const stats = await handle.stat();
    refuseDistrusted(path, stats);
    const isPrivate = process.getuid === undefined || (stats.mode & ACCESSIBLE_TO_OTHERS) === 0;
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
  if (stats.size > MAX_BYTES) return "it is larger than 1 MiB";
  const self = process.getuid?.();
  // Windows has neither owners nor mode bits.
  if (self === undefined) return null;
  if (stats.uid !== self && stats.uid !== 0) return `it belongs to ${describeOwner(path, self)}`;
  if ((stats.mode & WRITABLE_BY_ALL) !== 0) return `anybody may change it; run \`chmod go-w ${path}\``;
  return null;
}

/** In a user namespace that does not map root, such as the service's sandbox, root's files appear to be nobody's. */
function describeOwner(path: string, self: number): string {
  if (isRootMapped()) return `another user; run \`chown ${self} ${path}\``;
  return "nobody in the sandbox of the service; run `tollkeeper service install`, which leaves the sandbox out if it is root's";
}

/** Each line of the map is a range: the first uid inside, the first outside, and the length (user_namespaces(7)). */
function isRootMapped(): boolean {
  try {
    return /^\s*0\s/m.test(readFileSync("/proc/self/uid_map", "utf8"));
  } catch {
    // There is no such file outside Linux.
    return true;
  }
}
