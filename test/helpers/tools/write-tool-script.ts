import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a shell script that stands for a tool's program into `home`/bin. Returns that directory, for the PATH. */
export function writeToolScript(home: string, name: string, script: string): string {
  const directory = join(home, "bin");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return directory;
}
