import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CallLimiter } from "./call-limiter.ts";

/** Few repositories are half as deep in the file system. */
const MAX_LEVELS = 32;
/** More directories than anyone works in at a time. */
const MAX_CACHED = 64;
/** Two, so that one directory on a hanging disk does not block all others. */
const MAX_PENDING = 2;

/** A search for a directory's project. */
interface Search {
  found: Promise<string | null>;
  /** What it has found; null until it has ended. */
  root: string | null;
}

/**
 * Finds the project that a directory belongs to: the root of its git repository or, outside of one, the directory itself.
 * The file system's root is not a project: programs run there that work on no files.
 */
export class Projects {
  readonly #cache = new Map<string, Search>();
  readonly #limiter = new CallLimiter(MAX_PENDING);
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Resolves to the project's root for an absolute path; to null when the disk does not respond in time. Looks at one
   * directory at a time.
   */
  findRoot(directory: string): Promise<string | null> {
    const cached = this.#cache.get(directory);
    if (cached !== undefined) return cached.found;
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    const found = this.#last.then(() => this.#search(directory));
    const search: Search = { found, root: null };
    void found.then((root) => (search.root = root));
    this.#cache.set(directory, search);
    this.#last = found;
    return found;
  }

  /** Returns the root if {@link findRoot} has found it before; otherwise null. */
  recallRoot(directory: string): string | null {
    return this.#cache.get(directory)?.root ?? null;
  }

  async #search(directory: string): Promise<string | null> {
    let search: Promise<string | null> = Promise.resolve(null);
    const found = await this.#limiter.run(() => {
      search = findProject(directory);
      return search;
    });
    // The null stays cached until the call returns, so that the directory is not tried again before.
    if (found === undefined) void search.then(() => this.#cache.delete(directory));
    return found ?? null;
  }
}

async function findProject(directory: string): Promise<string | null> {
  let candidate = directory;
  for (let level = 0; level < MAX_LEVELS && candidate !== dirname(candidate); level += 1) {
    if (await exists(join(candidate, ".git"))) return candidate;
    candidate = dirname(candidate);
  }
  return directory === dirname(directory) ? null : directory;
}

/** Accepts a directory or a file: worktrees and submodules have a `.git` file (gitrepository-layout(5)). */
async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
