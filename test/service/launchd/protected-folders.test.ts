import assert from "node:assert/strict";
import { test } from "node:test";
import { findProtectedFiles } from "../../../src/service/launchd/protected-folders.ts";

const HOME = "/Users/ada";

/** Returns the protected folder of a path; `links` is where links lead. */
function folderOf(path: string, links: Record<string, string> = {}): string | undefined {
  const probes = { realpath: (from: string) => links[from] ?? null, home: HOME, temporary: [] };
  return findProtectedFiles([path], probes)[0]?.folder;
}

const CLOSED: [path: string, folder: string][] = [
  ["/Users/ada/Documents/tollkeeper/dist/main.js", "~/Documents"],
  ["/Users/ada/Desktop/tollkeeper/dist/main.js", "~/Desktop"],
  ["/Users/ada/Downloads/node-v22/bin/node", "~/Downloads"],
  ["/Users/ada/Library/Mobile Documents/com~apple~CloudDocs/t/main.js", "~/Library/Mobile Documents"],
  ["/Users/ada/Library/CloudStorage/Dropbox/t/main.js", "~/Library/CloudStorage"],
  ["/users/ADA/documents/config.jsonc", "~/Documents"],
  ["/Users/ada/Documents", "~/Documents"],
  ["/Volumes/Backup/tollkeeper/dist/main.js", "/Volumes/Backup"],
];

for (const [path, folder] of CLOSED)
  test(`${path} is closed to services`, () => assert.equal(folderOf(path), folder));

const OPEN = [
  "/Users/ada/src/tollkeeper/dist/main.js",
  "/Users/ada/Documents-old/main.js",
  "/Users/ada/Library/Application Support/tollkeeper/config.jsonc",
  "/Users/eve/Documents/main.js",
  "/opt/homebrew/lib/node_modules/tollkeeper/dist/main.js",
  "/Volumes/file",
];

for (const path of OPEN) test(`${path} is open to services`, () => assert.equal(folderOf(path), undefined));

test("a link into a protected folder is closed, as npm's to a clone, or a configuration's to its repository", () => {
  const script = "/opt/homebrew/lib/node_modules/tollkeeper/dist/main.js";
  assert.equal(folderOf(script, { [script]: "/Users/ada/Documents/tollkeeper/dist/main.js" }), "~/Documents");
});
