import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** Creates a directory with mode 0700, which is removed with the test. */
export function scratchDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
