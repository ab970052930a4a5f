import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { noDeletion, runInDeleted } from "./run-in-deleted.ts";

test("commands that need the working directory say that it was deleted", { skip: noDeletion }, async (t) => {
  const env = { PATH: process.env["PATH"] ?? "", HOME: scratchDirectory(t) };
  for (const line of [
    "connect claude-code --scope project --yes",
    "disconnect claude-code --directory .",
    "config check --config ./config.jsonc",
    "usage --commits",
    "serve --log-file log",
  ]) {
    const { code, stderr } = await runInDeleted(t, env, ...line.split(" "));
    assert.equal(code, 1, line);
    assert.equal(
      stderr,
      "error: the working directory does not exist any more\nhint: go to one that exists, and try again: cd\n",
      line,
    );
  }
});

test("the settings of a deleted project are not looked for elsewhere", { skip: noDeletion }, async (t) => {
  const home = scratchDirectory(t);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  const { code } = await runInDeleted(t, env, "connect", "claude-code", "--yes");
  assert.equal(code, 0);
  assert.match(readFileSync(join(home, ".claude/settings.json"), "utf8"), /ANTHROPIC_BASE_URL/);
});
