import { realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";

/** What the choice of a lasting path asks of the file system. */
export interface PathProbes {
  /** The path with its symbolic links resolved; null when nothing is there. */
  realpath(path: string): string | null;
  /** Home directory, absolute. */
  home: string;
  /** Directories that are emptied by the system, links resolved. */
  temporary: readonly string[];
}

/** The probes of this machine. */
export function pathProbes(): PathProbes {
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
