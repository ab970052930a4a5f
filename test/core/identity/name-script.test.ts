import assert from "node:assert/strict";
import { test } from "node:test";
import { nameScript } from "../../../src/core/identity/name-script.ts";

for (const [kind, text, name] of [
  ["file", "promptfoo.js", "promptfoo"],
  ["file", "./report.mts", "report"],
  ["file", "/home/u/x/report.py", "report"],
  ["file", "/home/u/.local/bin/llm", "llm"],
  ["file", "tools/report.rb", "report"],
  ["file", "report-1.4.2.jar", "report"],
  ["file", "report.dll", "report"],
  // Of a package, its name.
  ["file", "/usr/lib/node_modules/promptfoo/dist/src/main.js", "promptfoo"],
  ["file", "/x/node_modules/.bin/promptfoo", "promptfoo"],
  ["file", "/x/node_modules/.pnpm/a@1/node_modules/promptfoo/dist/worker.js", "promptfoo"],
  ["file", "node_modules/@acme/report/lib/x.js", "report"],
  ["file", "node_modules/@acme/cli/lib/x.js", "acme"],
  ["file", "/usr/lib/python3/dist-packages/report/__main__.py", "report"],
  ["file", "/v/lib/python3.12/site-packages/report.py", "report"],
  ["file", "npm:promptfoo@1.2/cli", "promptfoo"],
  ["file", "npm:@acme/report@1", "report"],
  ["file", "jsr:/@acme/cli@1", "acme"],
  ["module", "aider", "aider"],
  ["module", "report.cli.main", "report"],
  ["module", "src.report", "report"],
  // Names that say nothing.
  ["file", "index.js", null],
  ["file", "/home/u/summary-of-a-secret/main.py", null],
  ["file", "/home/u/secret/src/server.ts", null],
  ["file", "cli.mjs", null],
  ["module", "main", null],
  // What may be no file's name.
  ["file", "private", null],
  ["file", "9229", null],
  ["file", "private.txt", null],
  ["file", "./.env", null],
  ["file", "/home/u/private.txt", null],
  ["file", "https://host.example/x.ts?token=private", null],
  ["file", "print('private')", null],
  ["file", "/home/u/My Report.py", null],
  ["title", "report", null],
  ["title", "/home/u/private.py", null],
] as const) {
  test(`the ${kind} ${text} ${name === null ? "has no name" : `is named ${name}`}`, () =>
    assert.equal(nameScript({ kind, text }), name));
}
