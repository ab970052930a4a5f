import { formatCommand } from "./text/shell-words.ts";

/** The owner of what a command with `sudo` has left. */
const ROOT = 0;

/**
 * Returns what to type about a file, or a directory, that is refused because it belongs to the user id `owner` and not to `self`. Root may
 * be trusted with what is in it. Anybody else may have written it to be taken over, and a new owner would use it as their own
 * (SECURITY.md E4): it is to be moved away.
 */
export function fixForeignFile(path: string, owner: number, self: number): string {
  if (owner === ROOT) return `make it yours: ${formatCommand(["sudo", "chown", String(self), path])}`;
  return `look at what its owner wrote, then move it away with: ${formatCommand(["mv", path, `${path}.away`])}`;
}
