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

/** The package.json, which lies beside `src` and `dist` alike. */
function readPackage(): { version: string; engines: { node: string } } {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return JSON.parse(text) as { version: string; engines: { node: string } };
}

/** What a person must type here to run this program again: its name when it is installed, else node and its path. */
export function programName(): string {
  const script = process.argv[1] ?? "";
  return basename(script) === "tollkeeper" ? "tollkeeper" : `node ${relative(process.cwd(), script)}`;
}
