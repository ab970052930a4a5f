import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Sources that end up in `dist`, and what decides how. */
const INPUTS = ["src", "package.json", "tsconfig.json"];

/** Exits when that fails. */
function build(): void {
  const { status } = spawnSync("npm", ["run", "-s", "build"], { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

/**
 * Builds `dist`, which the tests of commands and daemons run, unless it is newer than all its sources: another test run may be using it.
 * Exits when that fails.
 */
export function buildIfOutdated(): void {
  const built = statSync(join(ROOT, "dist/main.js"), { throwIfNoEntry: false });
  const isOutdated = (path: string) => statSync(path).mtimeMs > (built?.mtimeMs ?? 0);
  if (INPUTS.flatMap(listPaths).some(isOutdated)) build();
}

/** The path and, for a directory, everything below it. A deleted file shows as its directory's new time. */
function listPaths(name: string): string[] {
  const path = join(ROOT, name);
  if (!statSync(path).isDirectory()) return [path];
  return [
    path,
    ...readdirSync(path, { recursive: true, encoding: "utf8" }).map((entry) => join(path, entry)),
  ];
}
