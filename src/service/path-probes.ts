import { realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";

/** What the choice of a stable path needs to know of the file system. */
export interface PathProbes {
  /** Returns the path with its symbolic links resolved; null when nothing exists there. */
  realpath(path: string): string | null;
  /** Home directory, absolute. */
  home: string;
  /** Directories that the system empties, links resolved. */
  temporary: readonly string[];
}

/** Returns the probes of this machine. */
export function createPathProbes(): PathProbes {
  const temporary = [tmpdir(), "/tmp", "/run"].map(realpath).filter((path) => path !== null);
  return { realpath, home: homedir(), temporary };
}

function realpath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
