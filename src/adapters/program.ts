import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";

/** This program's version. */
export function programVersion(): string {
  return readPackage().version;
}

/** The oldest Node that runs it, e.g. `20.19`. */
export function neededNode(): string {
  return readPackage().engines.node.replace(/^>=/, "");
}

/** The package.json; `#package` is the directory that it lies in, wherever this code is compiled to. */
function readPackage(): { version: string; engines: { node: string } } {
  const text = readFileSync(new URL(import.meta.resolve("#package/package.json")), "utf8");
  return JSON.parse(text) as { version: string; engines: { node: string } };
}

/** What a person must type here to run this program again: its name when it is installed, else node and its path. */
export function programName(): string {
  const script = process.argv[1] ?? "";
  return basename(script) === "tollkeeper" ? "tollkeeper" : `node ${relative(process.cwd(), script)}`;
}
