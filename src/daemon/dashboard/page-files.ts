import { readFileSync } from "node:fs";
import type { PageFile } from "../../local/dashboard/page.ts";

const TYPES: Readonly<Record<string, string>> = {
  "app.js": "text/javascript; charset=utf-8",
  "style.css": "text/css; charset=utf-8",
};

/** Reads the files of the page when they are first asked for. An upgrade that replaces them comes with a restart. */
export function pageFiles(): (name: string) => PageFile | null {
  const files = new Map<string, PageFile>();
  return (name) => {
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    if (type === undefined) return null;
    const file = files.get(name) ?? {
      type,
      bytes: readFileSync(new URL(import.meta.resolve(`#package/dist/dashboard/${name}`))),
    };
    files.set(name, file);
    return file;
  };
}
