import { closeSync, openSync, readlinkSync, readSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { CallLimiter } from "./call-limiter.ts";
import { parseStat, type ProcessStat } from "../../core/identity/process-stat.ts";

// Reads what `/proc` shows of a process (proc(5)). Each function returns null when the process has ended or does not show
// the detail to this user. The synchronous calls take 3 to 11 µs and never wait for a disk or for the process. In Node's
// thread pool they would take 70 µs.

/** The kernel's suffix for the path of a file that was removed or replaced, as by an update. */
const DELETED_SUFFIX = " (deleted)";

const lineBytes = Buffer.allocUnsafe(1024);

const argumentsLimiter = new CallLimiter(1);
let lastArguments: Promise<unknown> = Promise.resolve();

/** Returns the process's parent, name and start time. */
export function readStat(pid: number): ProcessStat | null {
  const line = readLine(`/proc/${pid}/stat`);
  return line === null ? null : parseStat(line);
}

/** Returns the pid of the process or thread that was started last. */
export function readLatestPid(): number | null {
  const pid = /(\d+)\s*$/.exec(readLine("/proc/loadavg") ?? "")?.[1];
  return pid === undefined ? null : Number(pid);
}

function readLine(path: string): string | null {
  let fd: number | null = null;
  try {
    fd = openSync(path, "r");
    return lineBytes.toString("utf8", 0, readSync(fd, lineBytes));
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** Returns the path of its executable. */
export function readExecutable(pid: number): string | null {
  const path = readLink(`/proc/${pid}/exe`);
  return path?.endsWith(DELETED_SUFFIX) === true ? path.slice(0, -DELETED_SUFFIX.length) : path;
}

/** Returns its working directory. */
export function readWorkingDirectory(pid: number): string | null {
  const path = readLink(`/proc/${pid}/cwd`);
  return path === null || path.endsWith(DELETED_SUFFIX) ? null : path;
}

/**
 * Resolves to its arguments. Reading them waits for the process, and for ever when that is stuck, so they are read in the
 * thread pool, one process at a time, with a timeout.
 */
export function readArguments(pid: number): Promise<string[] | null> {
  const read = lastArguments.then(async () => {
    try {
      const text = await argumentsLimiter.run(() => readFile(`/proc/${pid}/cmdline`, "utf8"));
      return text?.split("\0") ?? null;
    } catch {
      return null;
    }
  });
  lastArguments = read;
  return read;
}

/** Returns the uid that it runs as. */
export function readUid(pid: number): number | null {
  try {
    return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? null;
  } catch {
    return null;
  }
}

/** Returns the target of a symbolic link. */
export function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
