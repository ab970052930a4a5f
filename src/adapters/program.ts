import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";

/** Returns this program's version. */
export function programVersion(): string {
  return readPackage().version;
}

/** Returns the oldest Node version that can run the program, e.g. `20.19`. */
export function requiredNodeVersion(): string {
  return readPackage().engines.node.replace(/^>=/, "");
}

/** `#package` resolves to the package's root, from `src` and from the bundle in `dist` alike. */
function readPackage(): { version: string; engines: { node: string } } {
  const text = readFileSync(new URL(import.meta.resolve("#package/package.json")), "utf8");
  return JSON.parse(text) as { version: string; engines: { node: string } };
}

/**
 * Returns what a person types to run this program again: `tollkeeper` where it is installed, `npx tollkeeper` where npx runs it,
 * else node with the script's path.
 */
export function programName(): string {
  const script = process.argv[1] ?? "";
  if (process.env["npm_command"] === "exec") return "npx tollkeeper";
  return basename(script) === "tollkeeper" ? "tollkeeper" : `node ${relative(process.cwd(), script)}`;
}
