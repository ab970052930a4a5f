import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** Creates a directory with mode 0700, which is removed with the test. */
export function scratchDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  t.after(() => removeDirectory(directory));
  return directory;
}

/** Removes a directory to which processes may still write: a daemon's exporter, say, ends a moment after the daemon was killed. */
export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
}
