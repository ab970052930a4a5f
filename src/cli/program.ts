import { readFileSync } from "node:fs";
import { basename } from "node:path";

/** This program's version, from its package.json, which lies beside `src` and `dist` alike. */
export function programVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** What a person must type to run this program again: its name when it is installed, else npx in the project. */
export function programName(): string {
  return basename(process.argv[1] ?? "") === "tollkeeper" ? "tollkeeper" : "npx tollkeeper";
}
