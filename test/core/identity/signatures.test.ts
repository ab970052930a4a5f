import assert from "node:assert/strict";
import { test } from "node:test";
import { PROCESS_SIGNATURES } from "../../../src/core/identity/process-signatures.ts";
import { LIBRARIES, SIGNATURES } from "../../../src/core/identity/signatures.ts";
import { toolName } from "../../../src/core/identity/tool-identity.ts";

for (const [what, rows] of [
  ["headers", SIGNATURES],
  ["libraries", LIBRARIES],
  ["processes", PROCESS_SIGNATURES],
] as const) {
  test(`every row on ${what} says what it is known from, and since when`, () => {
    for (const { tool, source, date } of rows) {
      assert.match(source, /\w{4}/, tool);
      assert.match(date, /^20\d\d-\d\d-\d\d$/, tool);
      assert.equal(new Date(date).toISOString().slice(0, 10), date, tool);
      assert.equal(toolName(tool), tool);
    }
  });
}

test("a row on processes has names or a path to tell them by, and the names are spelled as they are looked up", () => {
  for (const { tool, names = [], path } of PROCESS_SIGNATURES) {
    assert.ok(names.length > 0 || path !== undefined, tool);
    for (const name of names) assert.match(name, /^[a-z0-9][a-z0-9-]*$/);
  }
});

test("what the headers tell a tool by is the same name that its process has", () => {
  const tools = PROCESS_SIGNATURES.map(({ tool }) => tool);
  for (const { tool } of SIGNATURES) assert.ok(tools.includes(tool), tool);
});
