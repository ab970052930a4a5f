import { readFileSync } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { formatCommand } from "../core/text/shell-words.ts";

interface PackageManifest {
  version: string;
  engines: { node: string };
}

// Read when this module is loaded, and never again: an upgrade replaces the files while the daemon keeps running.
const manifest = JSON.parse(readOwn("package.json").toString()) as PackageManifest;

/** Returns the version of the program that this process runs. */
export function programVersion(): string {
  return manifest.version;
}

/** Returns the oldest Node version that can run the program, e.g. `20.19`. */
export function requiredNodeVersion(): string {
  return manifest.engines.node.replace(/^>=/, "");
}

/** Returns the directory of the package: with `dist` and all that it needs. */
export function packageDirectory(): string {
  return dirname(fileURLToPath(import.meta.resolve("#package/package.json")));
}

/** Reads a file of the package. `#package` resolves to its root, from `src` and from the bundle in `dist` alike. */
function readOwn(path: string): Buffer {
  return readFileSync(new URL(import.meta.resolve(`#package/${path}`)));
}

/** Returns the working directory; null when it was deleted, which leaves the process in a place without a path. */
export function findWorkingDirectory(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

/**
 * Returns what a person types to run this program again: `tollkeeper` where it is installed, `npx tollkeeper` where npx runs it,
 * else node with the script's path.
 */
export function programName(): string {
  const script = process.argv[1] ?? "";
  if (process.env["npm_command"] === "exec") return "npx tollkeeper";
  if (basename(script) === "tollkeeper") return "tollkeeper";
  const directory = findWorkingDirectory();
  return formatCommand(["node", directory === null ? script : relative(directory, script)]);
}
