import { accessSync, constants, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { correctHome } from "../adapters/open-up.ts";
import { configPath, homeDirectory, stateDirectory } from "../adapters/paths.ts";
import { Failure, hasCode } from "../core/failure.ts";
import { formatCommand } from "../core/text/shell-words.ts";

const WITHOUT_HOME = ["statusline", "version", "completion", "sandbox", "bridge"];

/** Commands that create no file and take no setting from one: root may see or stop another user's daemon. */
const HARMLESS = [...WITHOUT_HOME, "status", "pause", "resume", "service stop"];

/**
 * Refuses to work as root in a user's home directory, which `sudo -E` passes on, and sudo on macOS. What root creates there is closed to the
 * user's own daemon and tools, and a setting of the user's, such as a key command, would take effect as root.
 * @param command its words, e.g. `config set`; empty where only help is shown
 */
export function refuseForeignHome(command: string): void {
  if (process.geteuid?.() !== 0) return refuseClosedHome(command);
  if (command === "" || HARMLESS.includes(command)) return;
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

/** Refuses a home directory that a user may not even enter, as when `su` keeps HOME: every file in it would seem to be at fault. */
function refuseClosedHome(command: string): void {
  if (command === "" || WITHOUT_HOME.includes(command)) return;
  const home = homeDirectory();
  const hint = isClosed(home) ? correctHome(home) : null;
  if (hint !== null) throw new Failure(`the home directory ${home} is closed to you`, hint);
}

function isClosed(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK);
    return false;
  } catch (error) {
    return hasCode(error, "EACCES");
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
