import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Failure } from "../core/failure.ts";
import type { Commit } from "../core/ledger/commits.ts";

/** A git repository as seen from one of its worktrees. */
export interface Repository {
  /** The worktree's directory. */
  root: string;
  /** Directories of all worktrees of the repository. */
  worktrees: readonly string[];
  /** The branch that is checked out, even before its first commit; null for a detached HEAD. */
  branch: string | null;
  /** Those of the branch itself (first parents), since the given time. */
  commits: readonly Commit[];
}

const run = promisify(execFile);

/** 1,000,000 commits. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/**
 * Reads the repository that a directory belongs to, with the program `git`. It runs nothing that the repository's configuration names:
 * no signature is verified, and there is no pager.
 * @param since milliseconds since 1970. Older commits are left out
 * @throws Failure outside of a repository, without git, and without any commit
 */
export async function readRepository(directory: string, since: number): Promise<Repository> {
  const root = (await git(directory, "rev-parse", "--show-toplevel")).trimEnd();
  const list = await git(root, "worktree", "list", "--porcelain");
  const worktrees = [...list.matchAll(/^worktree (.+)$/gm)].map(([, path = ""]) => path);
  const branch = await git(root, "symbolic-ref", "--quiet", "--short", "HEAD").catch(() => "");
  const commits = await readCommits(root, since);
  return { root, worktrees: [...new Set([root, ...worktrees])], branch: branch.trimEnd() || null, commits };
}

/** A commit is authored before it is committed, so that the limit by git, which is on the latter, leaves out none. */
async function readCommits(root: string, since: number): Promise<Commit[]> {
  await git(root, "rev-parse", "--quiet", "--verify", "HEAD").catch(() => {
    throw new Failure(
      `the repository ${root} has no commit yet`,
      "commit something, or see what was spent here with: tollkeeper usage --by project",
    );
  });
  const limit = `--since=${new Date(since).toISOString()}`;
  const format = ["--no-show-signature", "--no-color", "-z", "--format=%H%x00%at%x00%s"];
  const fields = (await git(root, "log", "--first-parent", limit, ...format, "HEAD", "--")).split("\0");
  const commits: Commit[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [hash = "", time = "", subject = ""] = fields.slice(at, at + 3);
    // git counts whole seconds: a request of the same one was before.
    commits.push({ hash, at: Number(time) * 1000 + 999, subject });
  }
  return commits.filter(({ at }) => at >= since);
}

/** Resolves to the output. Rejects with a Failure that says what to do, or with what git says. */
async function git(directory: string, ...args: readonly string[]): Promise<string> {
  try {
    const env = { ...process.env, LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0" };
    const { stdout } = await run("git", args, { cwd: directory, env, maxBuffer: MAX_OUTPUT_BYTES });
    return stdout;
  } catch (error) {
    throw explain(directory, error as NodeJS.ErrnoException & { stderr?: string });
  }
}

function explain(directory: string, { code, message, stderr }: NodeJS.ErrnoException & { stderr?: string }) {
  const instead = "to see what was spent by branch without git, type: tollkeeper usage --by project,branch";
  if (code === "ENOENT") return new Failure("git was not found on PATH", `install git; ${instead}`);
  if (/not a git repository|must be run in a work tree/.test(stderr ?? ""))
    return new Failure(
      `${directory} is not in the worktree of a git repository`,
      `change to one, and type again: tollkeeper usage --commits; ${instead}`,
    );
  const said = (stderr ?? "").trim().split("\n")[0] || message;
  return new Failure(`git cannot read the repository of ${directory}: ${said}`, instead);
}

/**
 * Returns whether projects belong to a repository: a worktree, or a directory in one that is not in a repository of its own, such as a
 * submodule. A project is usually the root of its worktree; it is below where the repository was made later.
 */
export function projectTest({ worktrees }: Repository): (project: string) => boolean {
  const known = new Map<string, boolean>();
  return (project) => {
    let belongs = known.get(project);
    if (belongs === undefined) known.set(project, (belongs = belongsTo(worktrees, project)));
    return belongs;
  };
}

function belongsTo(worktrees: readonly string[], project: string): boolean {
  if (!worktrees.some((root) => project === root || project.startsWith(`${root}/`))) return false;
  let directory = project;
  while (!worktrees.includes(directory)) {
    if (existsSync(join(directory, ".git"))) return false;
    directory = dirname(directory);
  }
  return true;
}
