import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { Failure, hasCode } from "../../core/failure.ts";
import { attribute, reasonOf } from "../../core/system-error.ts";
import { replaceFile } from "../../replace-file.ts";
import { listDirectory } from "./directories.ts";

/** Replaces a file of a tool; see {@link replaceFile}. */
export function replaceToolFile(
  path: string,
  bytes: Uint8Array,
  how: { mode: number; owner: { uid: number; gid: number } | null; check(): void },
): void {
  removeStaleTemporaryFiles(path);
  // removeStaleTemporaryFiles checks by the process ID whether the writer is alive.
  replaceFile(path, bytes, { ...how, unfinished: `${path}.tollkeeper-${process.pid}` });
}

/** Removes the temporary files for `path` that killed processes left behind. */
export function removeStaleTemporaryFiles(path: string): void {
  const prefix = `${basename(path)}.tollkeeper-`;
  for (const name of listDirectory(dirname(path))) {
    const pid = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    if (/^\d+$/.test(pid) && !isOtherProcessAlive(Number(pid)))
      fs.rmSync(join(dirname(path), name), { force: true });
  }
}

/** True for another live process. Our own file is stale: we replace one file at a time, and clean up first. */
function isOtherProcessAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/**
 * Turns an error from writing a file into a Failure, whose cause says what to type; a Failure stays as it is.
 * @param realPath `path` with symbolic links resolved
 */
export function toWriteFailure(path: string, realPath: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const cause = attribute(error, realPath);
  return new Failure(`cannot change ${path}: ${reasonOf(error)}`, undefined, { cause });
}
