import * as fs from "node:fs";
import { dirname } from "node:path";
import { hasCode } from "../../../core/failure.ts";
import { identifyProcess, isRunning } from "../process-identity.ts";

/** By which a process is told that still runs, where the system does not say when it has started (`isRunning`). */
const RENEW_MS = 60_000;

/**
 * Makes this process the only one that writes a checkpoint, until it ends or the returned function is called. Returns null while another
 * one runs that is. A lock that a killed process left does not count. Throws an errno error when the file cannot be written.
 */
export function lockCheckpoint(path: string): (() => void) | null {
  const lock = `${path}.lock`;
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  while (!create(lock)) {
    const found = readHolder(lock);
    if (found !== null && isRunning(found.holder, found.writtenAt)) return null;
    fs.rmSync(lock, { force: true });
  }
  const renew = setInterval(() => fs.utimesSync(lock, new Date(), new Date()), RENEW_MS).unref();
  return () => {
    clearInterval(renew);
    fs.rmSync(lock, { force: true });
  };
}

function create(lock: string): boolean {
  try {
    fs.writeFileSync(lock, identifyProcess(), { mode: 0o600, flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function readHolder(lock: string): { holder: string; writtenAt: number } | null {
  try {
    return { holder: fs.readFileSync(lock, "utf8"), writtenAt: fs.lstatSync(lock).mtimeMs };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
