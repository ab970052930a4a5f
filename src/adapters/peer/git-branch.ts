import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CallLimiter } from "./call-limiter.ts";

/** More than the longest name of a branch that file systems allow. */
const MAX_BYTES = 4096;

/** As much of an object name as identifies a commit in any repository. */
const HASH_CHARACTERS = 12;

/** Two, so that one repository on a hanging disk does not block all others. */
const limiter = new CallLimiter(2);

/**
 * Resolves to the branch that is checked out in the repository at `root`, e.g. `main` or `feature/x`; to `detached:` and the commit
 * without one. git allows no colon in the name of a branch. Resolves to null outside of a repository, where git's files say nothing
 * (with the reftable format), and when the disk does not respond in time. Never rejects. Read from the files that
 * gitrepository-layout(5) describes, because git itself would take 2 ms and run hooks of the repository's configuration.
 */
export async function readBranch(root: string): Promise<string | null> {
  return (await limiter.run(() => findBranch(root))) ?? null;
}

async function findBranch(root: string): Promise<string | null> {
  const head = (await readSmallFile(join(root, ".git", "HEAD"))) ?? (await readLinkedHead(root));
  if (head === null) return null;
  const branch = /^ref:\s*refs\/heads\/(\S+)\s*$/.exec(head)?.[1];
  // A repository in the reftable format keeps this in HEAD for older programs (git-reftable documentation).
  if (branch !== undefined) return branch === ".invalid" ? null : branch;
  const commit = /^([0-9a-f]{40,64})\s*$/.exec(head)?.[1];
  return commit === undefined ? null : `detached:${commit.slice(0, HASH_CHARACTERS)}`;
}

/** In a worktree or submodule `.git` is a file that names the directory. */
async function readLinkedHead(root: string): Promise<string | null> {
  const link = await readSmallFile(join(root, ".git"));
  const directory = /^gitdir: (.+?)\s*$/.exec(link ?? "")?.[1];
  return directory === undefined ? null : readSmallFile(join(resolve(root, directory), "HEAD"));
}

/** Returns null for what is missing or is no regular file: a named pipe would never end. */
async function readSmallFile(path: string): Promise<string | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) return null;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}
