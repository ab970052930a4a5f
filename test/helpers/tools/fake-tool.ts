import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Puts a program of this name into a directory of its own below `home`: a script for a shell. @returns the directory */
export function fakeTool(home: string, name: string, script: string): string {
  const directory = join(home, "bin");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return directory;
}
