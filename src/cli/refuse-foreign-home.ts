import { statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { configPath, homeDirectory, stateDirectory } from "../adapters/paths.ts";
import { Failure } from "../core/failure.ts";
import { formatCommand } from "../core/text/shell-words.ts";

/** Commands that create no file and take no setting from one: root may see or stop another user's daemon. */
const HARMLESS = [
  "status",
  "statusline",
  "pause",
  "resume",
  "service stop",
  "version",
  "completion",
  "sandbox",
  "bridge",
];

/**
 * Refuses to work as root in a user's home directory, which `sudo -E` passes on, and sudo on macOS. What root creates there is closed to the
 * user's own daemon and tools, and a setting of the user's, such as a key command, would take effect as root.
 * @param command its words, e.g. `config set`; empty where only help is shown
 */
export function refuseForeignHome(command: string): void {
  if (process.geteuid?.() !== 0 || command === "" || HARMLESS.includes(command)) return;
  for (const path of [homeDirectory(), configPath(), stateDirectory()]) {
    const existing = findExisting(path);
    if (existing === null || existing.uid === 0) continue;
    const message = `you are root, but ${existing.path} belongs to user id ${existing.uid}, whose tools could not use what root creates there`;
    const own = formatCommand(["export", `HOME=${userInfo().homedir}`]);
    throw new Failure(
      message,
      `type it again without sudo; or, for a tollkeeper of root's own, first type: ${own}`,
    );
  }
}

/** Returns the path, or the nearest directory above it that exists. */
function findExisting(path: string): { path: string; uid: number } | null {
  try {
    return { path, uid: statSync(path).uid };
  } catch {
    return path === dirname(path) ? null : findExisting(dirname(path));
  }
}
