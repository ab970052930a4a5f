import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readBranch } from "../../../src/adapters/peer/git-branch.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const noGit = spawnSync("git", ["--version"]).status !== 0 && "needs git: apt-get install git";

/** A directory, and git in it without anyone's configuration. */
function prepare(t: TestContext) {
  const root = scratchDirectory(t);
  const env = {
    PATH: process.env["PATH"],
    HOME: root,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.com",
  };
  const git = (directory: string, ...args: string[]) => {
    const options = ["-C", directory, "-c", "protocol.file.allow=always", ...args];
    return execFileSync("git", options, { env, encoding: "utf8", stdio: "pipe" }).trim();
  };
  const repository = join(root, "repository");
  git(root, "init", "--quiet", "--initial-branch=main", repository);
  git(repository, "commit", "--quiet", "--allow-empty", "--message=first");
  return { root, repository, git };
}

test(
  "the branch is that of real repositories: also before the first commit, and after each checkout",
  { skip: noGit },
  async (t) => {
    const { root, repository, git } = prepare(t);
    assert.equal(await readBranch(repository), "main");
    git(repository, "checkout", "--quiet", "-b", "feature/größer");
    assert.equal(await readBranch(repository), "feature/größer");
    const fresh = join(root, "fresh");
    git(root, "init", "--quiet", "--initial-branch=trunk", fresh);
    assert.equal(await readBranch(fresh), "trunk");
  },
);

test("without a branch it is the commit", { skip: noGit }, async (t) => {
  const { repository, git } = prepare(t);
  git(repository, "checkout", "--quiet", "--detach");
  const commit = git(repository, "rev-parse", "HEAD");
  assert.equal(await readBranch(repository), `detached:${commit.slice(0, 12)}`);
});

test("worktrees and submodules have branches of their own", { skip: noGit }, async (t) => {
  const { root, repository, git } = prepare(t);
  const worktree = join(root, "worktree");
  git(repository, "worktree", "add", "--quiet", "-b", "aside", worktree);
  assert.equal(await readBranch(worktree), "aside");
  const outer = join(root, "outer");
  git(root, "init", "--quiet", "--initial-branch=outer", outer);
  git(outer, "submodule", "--quiet", "add", repository, "inner");
  git(join(outer, "inner"), "checkout", "--quiet", "-b", "within");
  assert.deepEqual([await readBranch(join(outer, "inner")), await readBranch(outer)], ["within", "outer"]);
});

test("whatever else stands in git's files is no branch, and nothing hangs", async (t) => {
  const root = scratchDirectory(t);
  assert.equal(await readBranch(root), null, "no repository");
  const head = join(root, ".git", "HEAD");
  mkdirSync(join(root, ".git"));
  assert.equal(await readBranch(root), null, "no HEAD");
  for (const text of [
    "",
    "ref: refs/heads/.invalid\n",
    "ref: refs/tags/v1\n",
    "main\n",
    "x".repeat(1_000_000),
  ]) {
    writeFileSync(head, text);
    assert.equal(await readBranch(root), null, text.slice(0, 40));
  }
  rmSync(head);
  execFileSync("mkfifo", [head]);
  assert.equal(await readBranch(root), null, "a named pipe");
  rmSync(join(root, ".git"), { recursive: true });
  writeFileSync(join(root, ".git"), "gitdir: /nonexistent\n");
  assert.equal(await readBranch(root), null, "a link to nothing");
});
