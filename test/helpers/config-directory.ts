import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A fresh directory, gone with the test; its real path, which watchers report. */
export function makeDirectory(t: TestContext): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tollkeeper-config-")));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Text of a good configuration that is told from others by its port. */
export function withPort(port: number): string {
  return `{ "listen": { "port": ${port} } }\n`;
}
