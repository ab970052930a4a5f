import { closeSync, openSync, readlinkSync, readSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { CallLimiter } from "./call-limiter.ts";
import { parseStat, type ProcessStat } from "./process-stat.ts";

// What `/proc` shows of a process (proc(5)). It may vanish at any moment, and others' processes show less: then the answer is
// null. The synchronous calls take 3 to 11 µs and never wait for a disk or for the process; in Node's pool of threads they
// would take 70.

/** What the kernel puts behind a path that was removed or replaced meanwhile, as updates do. */
const DELETED = " (deleted)";

const statBytes = Buffer.allocUnsafe(1024);

const argumentPatience = new CallLimiter(1);

/** Its parent, its name and its start. */
export function statOf(pid: number): ProcessStat | null {
  let fd: number | null = null;
  try {
    fd = openSync(`/proc/${pid}/stat`, "r");
    return parseStat(statBytes.toString("utf8", 0, readSync(fd, statBytes)));
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** Path of its executable. */
export function executableOf(pid: number): string | null {
  const path = linkAt(`/proc/${pid}/exe`);
  return path?.endsWith(DELETED) === true ? path.slice(0, -DELETED.length) : path;
}

/** The directory that it works in. */
export function directoryOf(pid: number): string | null {
  const path = linkAt(`/proc/${pid}/cwd`);
  return path === null || path.endsWith(DELETED) ? null : path;
}

/**
 * Its arguments. Reading them can wait for the process, and for ever when that is stuck; so it is done in another thread, one
 * at a time, and not waited for that long.
 */
export async function argumentsOf(pid: number): Promise<string[] | null> {
  try {
    const text = await argumentPatience.await(() => readFile(`/proc/${pid}/cmdline`, "utf8"));
    return text?.split("\0") ?? null;
  } catch {
    return null;
  }
}

/** uid that it runs as. */
export function uidOf(pid: number): number | null {
  try {
    return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? null;
  } catch {
    return null;
  }
}

/** Where a symbolic link points to. */
export function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
