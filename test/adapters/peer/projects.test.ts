import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Projects } from "../../../src/adapters/peer/projects.ts";
import { scratchDirectory } from "../../helpers/keychain/keychain-session.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";

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

/** A disk in the network at `/hung` that answers nothing until it is let go; what it is asked stands in `asked`. */
function hangDisk(t: TestContext) {
  const { promise: held, resolve: letGo } = withResolvers<void>();
  const { stat } = fs;
  const asked: string[] = [];
  const hang = async (...args: Parameters<typeof stat>) => {
    const path = String(args[0]);
    if (!path.startsWith("/hung/")) return stat(...args);
    asked.push(path);
    await held;
    return stat("/");
  };
  const mocked = t.mock.method(fs, "stat", hang as typeof stat);
  syncBuiltinESMExports();
  // A limit alone keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  t.after(() => {
    clearInterval(alive);
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  return { asked, letGo };
}

test("a disk that does not answer holds up no directory but those on it, and no more than two threads", async (t) => {
  const scratch = scratchDirectory(t);
  const { asked, letGo } = hangDisk(t);
  const projects = new Projects();
  const [first, plain] = [projects.around("/hung/first"), projects.around(scratch)];
  assert.deepEqual([await first, await plain], [null, scratch]);
  assert.equal(await projects.around("/hung/first"), null);
  for (const name of ["second", "third", "fourth"])
    assert.equal(await projects.around(`/hung/${name}`), null);
  assert.deepEqual(asked, ["/hung/first/.git", "/hung/second/.git"]);
  letGo();
  while ((await projects.around("/hung/first")) === null) await new Promise(setImmediate);
  assert.equal(await projects.around("/hung/first"), "/hung/first");
});
