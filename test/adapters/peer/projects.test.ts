import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Projects } from "../../../src/adapters/peer/projects.ts";
import { scratchDirectory } from "../../helpers/keyring.ts";

test("the project is the root of the repository that the directory lies in, and else the directory itself", async (t) => {
  const scratch = scratchDirectory(t);
  const [plain, repository, worktree] = ["plain", "repository", "worktree"].map((name) =>
    join(scratch, name),
  );
  assert.ok(plain !== undefined && repository !== undefined && worktree !== undefined);
  for (const directory of [plain, join(repository, ".git"), join(repository, "a/b"), join(worktree, "a")]) {
    mkdirSync(directory, { recursive: true });
  }
  writeFileSync(join(worktree, ".git"), "gitdir: elsewhere\n");
  const projects = new Projects();
  for (const [directory, project] of [
    [plain, plain],
    [repository, repository],
    [join(repository, "a/b"), repository],
    [join(worktree, "a"), worktree],
    // It was asked before.
    [join(repository, "a/b"), repository],
  ] as const) {
    assert.equal(await projects.around(directory), project);
  }
});

test("a repository within another is a project of its own", async (t) => {
  const outer = scratchDirectory(t);
  const inner = join(outer, "inner");
  for (const root of [outer, inner]) mkdirSync(join(root, ".git"), { recursive: true });
  assert.equal(await new Projects().around(inner), inner);
});

test("the root directory is no project, and a directory that is gone by now is one", async () => {
  const projects = new Projects();
  assert.equal(await projects.around("/"), null);
  assert.equal(await projects.around("/nonexistent/place"), "/nonexistent/place");
});

test("more directories than are remembered are told like the first", async (t) => {
  const scratch = scratchDirectory(t);
  const projects = new Projects();
  const directories = Array.from({ length: 200 }, (_, i) => join(scratch, `${i}`));
  assert.deepEqual(await Promise.all(directories.map((path) => projects.around(path))), directories);
});
