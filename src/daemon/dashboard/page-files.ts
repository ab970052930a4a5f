import { readFileSync } from "node:fs";
import { PAGE_PARTS, type PageFile } from "../../local/dashboard/page.ts";

const SCRIPT = "text/javascript; charset=utf-8";
const TYPES: Readonly<Record<string, string>> = {
  "app.js": SCRIPT,
  ...Object.fromEntries(PAGE_PARTS.map((name) => [`${name}.js`, SCRIPT])),
  "style.css": "text/css; charset=utf-8",
};

/**
 * Reads the files of the page when one is first asked for: all at once, because they fit together. An upgrade that replaces them comes
 * with a restart.
 */
export function pageFiles(): (name: string) => PageFile | null {
  let files: ReadonlyMap<string, PageFile> | null = null;
  return (name) => {
    files ??= new Map(Object.entries(TYPES).map(([own, type]) => [own, { type, bytes: read(own) }]));
    return files.get(name) ?? null;
  };
}

function read(name: string): Buffer {
  return readFileSync(new URL(import.meta.resolve(`#package/dist/dashboard/${name}`)));
}
