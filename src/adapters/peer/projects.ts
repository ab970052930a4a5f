import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CallLimiter } from "./call-limiter.ts";

/** A repository lies seldom half as deep. */
const MOST_LEVELS = 32;
/** More directories than somebody works in at a time. */
const MOST_KNOWN = 64;
/** With one that never answers another can still be looked at. */
const MOST_UNDER_WAY = 2;

/**
 * Tells which project a directory belongs to: the root of the git repository that it lies in, and where it is in none, the
 * directory itself. The root directory, which is where programs run that work on nothing, is no project.
 */
export class Projects {
  readonly #known = new Map<string, Promise<string | null>>();
  readonly #patience = new CallLimiter(MOST_UNDER_WAY);
  #last: Promise<unknown> = Promise.resolve();

  /**
   * The project's root, for an absolute path; null where a disk does not say it in time. One directory is looked at after
   * the other.
   */
  around(directory: string): Promise<string | null> {
    const known = this.#known.get(directory);
    if (known !== undefined) return known;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    const found = this.#last.then(() => this.#look(directory));
    this.#known.set(directory, found);
    this.#last = found;
    return found;
  }

  async #look(directory: string): Promise<string | null> {
    let looking: Promise<string | null> = Promise.resolve(null);
    const found = await this.#patience.await(() => {
      looking = findProject(directory);
      return looking;
    });
    // As long as it does not come back, it is not looked at a second time.
    if (found === undefined) void looking.then(() => this.#known.delete(directory));
    return found ?? null;
  }
}

async function findProject(directory: string): Promise<string | null> {
  let candidate = directory;
  for (let level = 0; level < MOST_LEVELS && candidate !== dirname(candidate); level += 1) {
    if (await exists(join(candidate, ".git"))) return candidate;
    candidate = dirname(candidate);
  }
  return directory === dirname(directory) ? null : directory;
}

/** A folder, or the file by which a second worktree and a submodule point to theirs (gitrepository-layout(5)). */
async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
