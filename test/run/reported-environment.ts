// Run by environment.test.ts: fails when a variable of the caller's has got into the environment of the tests.
import assert from "node:assert/strict";
import test from "node:test";
import { findExecutable } from "../../src/adapters/programs/executables.ts";

const EXPECTED = /^(PATH|TERM|TMPDIR|CI|HOME|LANG)$/;

test("no AI tool is on the PATH of a test", () => {
  const path = process.env["PATH"] ?? "";
  assert.deepEqual(
    ["aider", "claude", "codex", "opencode"].filter((tool) => findExecutable(tool, path) !== null),
    [],
  );
});

test("the environment of a test has nothing of the caller's", () => {
  const foreign = Object.keys(process.env).filter((name) => !EXPECTED.test(name));
  assert.deepEqual(foreign, []);
});
