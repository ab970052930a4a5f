import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Projects } from "../../../src/adapters/peer/projects.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";

test("returns the root of the directory's repository, or the directory itself outside a repository", async (t) => {
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
    // From the cache.
    [join(repository, "a/b"), repository],
  ] as const) {
    assert.equal(await projects.findRoot(directory), project);
  }
});

test("returns the inner one of two nested repositories", async (t) => {
  const outer = scratchDirectory(t);
  const inner = join(outer, "inner");
  for (const root of [outer, inner]) mkdirSync(join(root, ".git"), { recursive: true });
  assert.equal(await new Projects().findRoot(inner), inner);
});

test("returns null for the root directory, and a directory that does not exist as its own project", async () => {
  const projects = new Projects();
  assert.equal(await projects.findRoot("/"), null);
  assert.equal(await projects.findRoot("/nonexistent/place"), "/nonexistent/place");
});

test("finds the projects of more directories than the cache can hold", async (t) => {
  const scratch = scratchDirectory(t);
  const projects = new Projects();
  const directories = Array.from({ length: 200 }, (_, i) => join(scratch, `${i}`));
  assert.deepEqual(await Promise.all(directories.map((path) => projects.findRoot(path))), directories);
});

/** Simulates a network disk at `/hung` that does not respond until `release` is called; `asked` collects the paths looked up. */
function hangDisk(t: TestContext) {
  const { promise: held, resolve: release } = withResolvers<void>();
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
  // The timeout itself does not keep the process alive.
  const alive = setInterval(() => {}, 1_000);
  t.after(() => {
    clearInterval(alive);
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  return { asked, release };
}

test("a disk that does not respond blocks no other directories, and at most two threads", async (t) => {
  const scratch = scratchDirectory(t);
  const { asked, release } = hangDisk(t);
  const projects = new Projects();
  const [first, plain] = [projects.findRoot("/hung/first"), projects.findRoot(scratch)];
  assert.deepEqual([await first, await plain], [null, scratch]);
  assert.equal(await projects.findRoot("/hung/first"), null);
  for (const name of ["second", "third", "fourth"])
    assert.equal(await projects.findRoot(`/hung/${name}`), null);
  assert.deepEqual(asked, ["/hung/first/.git", "/hung/second/.git"]);
  release();
  while ((await projects.findRoot("/hung/first")) === null) await new Promise(setImmediate);
  assert.equal(await projects.findRoot("/hung/first"), "/hung/first");
});
