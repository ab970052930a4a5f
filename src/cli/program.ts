import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";

/** This program's version, from its package.json, which lies beside `src` and `dist` alike. */
export function programVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** What a person must type here to run this program again: its name when it is installed, else node and its path. */
export function programName(): string {
  const script = process.argv[1] ?? "";
  return basename(script) === "tollkeeper" ? "tollkeeper" : `node ${relative(process.cwd(), script)}`;
}
