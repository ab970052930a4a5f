import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasCode } from "../../../src/core/failure.ts";

/** Something that ends: a test, or a run of the benchmark. */
export interface Scope {
  /** Adds a task for its end. */
  after(task: () => unknown): void;
}

/** Creates a directory with mode 0700, which is removed with the test. */
export function scratchDirectory(t: Scope): string {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  t.after(() => removeDirectory(directory));
  return directory;
}

/** Unmounts what a test that was killed has left mounted below a directory: until then the directory cannot be removed. */
export function unmountLeftovers(directory: string): void {
  if (process.platform !== "linux") return;
  const places = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "");
  for (const place of places) if (place.startsWith(`${directory}/`)) execFileSync("umount", [place]);
}

/** How often, and after how many milliseconds, a directory is removed again that something was written to meanwhile. */
const [TRIES, PAUSE_MS] = [60, 50];

/**
 * Removes a directory to which processes may still write: a daemon's exporter, say, ends a moment after the daemon was killed. Each try
 * begins with what is in it by then: Node's own `maxRetries` only repeats the last step, which a new file fails for good.
 */
export function removeDirectory(directory: string): void {
  for (let left = TRIES; ; left -= 1)
    try {
      rmSync(directory, { recursive: true, force: true });
      return;
    } catch (error) {
      if (left === 0 || !hasCode(error, "ENOTEMPTY")) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
}
