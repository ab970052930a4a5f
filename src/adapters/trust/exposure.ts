import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { join, resolve } from "node:path";
import { Failure, hasCode } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { findSystemTool, runSystemTool } from "../programs/run-system-tool.ts";
import { isInSandbox, overflowUid } from "../user-namespace.ts";
import { askGroupMembers } from "./group-members.ts";

/**
 * Who may write to a file, and to the directories and links on its path: this user and root, or root alone. A file of root's that
 * `root` names may not even be writable for a group without members: every user of the machine relies on it.
 */
export type Trusted = "us" | "root";

/** Something through which somebody else can change a file, or put another in its place. */
export interface Exposure {
  /** The file itself, or a directory or link that leads to it. */
  place: string;
  /** Says who can do what to the file, which `name` is in a sentence. */
  describe(name: string): string;
  /** The command that ends it, or shows it where no command does; advice in front of it where somebody has to look first. */
  command: string;
}

const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/** As many as the kernel follows (path_resolution(7)). */
const MAX_LINKS = 40;

/** One file on a path, as the kernel follows it. */
interface Step {
  place: string;
  stats: Stats;
  isTarget: boolean;
}

/** What a path leads to, and through what. */
interface FollowedPath {
  steps: readonly Step[];
  /** null when it leads to nothing. */
  target: Stats | null;
}

/** Follows a path link by link, as far as it exists, and notes every directory and link on the way. Throws an errno error. */
export function followPath(path: string): FollowedPath {
  const steps: Step[] = [];
  let at = "/";
  let links = 0;
  const names = [".", ...namesOf(resolve(path))];
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const place = join(at, name);
    const stats = lstatIfThere(place);
    if (stats === null) return { steps, target: null };
    const isLink = stats.isSymbolicLink();
    const isTarget = !isLink && names.length === 0;
    steps.push({ place, stats, isTarget });
    if (isTarget) return { steps, target: stats };
    if (!isLink) {
      at = place;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw tooManyLinks(path);
    const target = readlinkSync(place);
    if (target.startsWith("/")) at = "/";
    names.unshift(...namesOf(target));
    // A link to "/" or "." leads to a directory that has been noted.
    if (names.length === 0) names.push(".");
  }
  return { steps, target: null };
}

/** Returns the error with which the system refuses to open such a path. */
function tooManyLinks(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ELOOP: too many symbolic links, open '${path}'`), {
    code: "ELOOP",
    syscall: "open",
    path,
  });
}

/**
 * Returns what lets somebody else change what a path leads to, or put something else in its place; null when nothing does. Only
 * what exists of the path is examined. Asks the system who is in a group if a group may write. Throws an errno error.
 */
export function findExposure(path: string, trusted: Trusted = "us"): Promise<Exposure | null> {
  return judge(followPath(path), trusted);
}

/** As {@link findExposure}, of a path that has been followed. Returns the outermost place. */
export async function judge({ steps }: FollowedPath, trusted: Trusted): Promise<Exposure | null> {
  // Windows has neither owners nor mode bits.
  if (process.getuid === undefined) return null;
  const loose: Step[] = [];
  for (const step of steps) {
    const found = findOwner(step, trusted) ?? findEveryone(step, trusted);
    if (found !== null) return found;
    if (isOpenTo(step, WRITABLE_BY_GROUP, trusted)) loose.push(step);
  }
  const found = await Promise.all(loose.map((step) => findGroup(step)));
  return found.find((exposure) => exposure !== null) ?? null;
}

/** @throws Failure when somebody else could change the file, or put another in its place. `name` is the file in a sentence. */
export async function refuseExposed(path: string, name: string): Promise<void> {
  const exposure = await findExposure(path);
  if (exposure !== null) throw exposureFailure(exposure, name);
}

export function exposureFailure({ describe, command }: Exposure, name: string): Failure {
  return new Failure(describe(name), command);
}

function findOwner({ place, stats, isTarget }: Step, trusted: Trusted): Exposure | null {
  const { uid } = stats;
  if (trusted === "root") {
    if (isRoot(uid)) return null;
    // Its owner may have written it for root to take over.
    const command = `look at it, and then type: ${formatCommand(["sudo", "chown", "-h", "root", place])}`;
    return { place, describe: () => `${place} does not belong to root`, command };
  }
  // In the sandbox, root's directories cannot be told from those of other users.
  if (uid === 0 || uid === process.geteuid?.() || (isInSandbox() && uid === overflowUid())) return null;
  const describe = (name: string) =>
    isTarget
      ? `${name} belongs to another user (uid ${uid})`
      : `another user can replace ${name}: ${place} belongs to uid ${uid}`;
  return { place, describe, command: formatCommand(["ls", "-ld", place]) };
}

/** In the service's sandbox, files of root and of other users alike belong to the overflow uid. */
function isRoot(uid: number): boolean {
  if (uid === 0) return true;
  return isInSandbox() && uid === overflowUid() && uid !== process.getuid?.();
}

function findEveryone(step: Step, trusted: Trusted): Exposure | null {
  const { place, isTarget } = step;
  if (trusted === "root") {
    if (!isOpenTo(step, WRITABLE_BY_GROUP | WRITABLE_BY_ALL, trusted)) return null;
    const command = formatCommand(["sudo", "chmod", "go-w", place]);
    return { place, describe: () => `users other than root can write to ${place}`, command };
  }
  if (!isOpenTo(step, WRITABLE_BY_ALL, trusted)) return null;
  const describe = (name: string) =>
    isTarget
      ? `other users can change ${name}`
      : `other users can replace ${name}: everyone can write to ${place}`;
  return { place, describe, command: close(step, "go-w") };
}

/**
 * True when a mode lets others write. A link has no mode of its own. In a sticky directory, such as /tmp, each file can be replaced
 * by its owner and the directory's alone (inode(7)), and both are examined; but anyone can put a file beside it.
 */
function isOpenTo({ stats, isTarget }: Step, bits: number, trusted: Trusted): boolean {
  if (stats.isSymbolicLink() || (stats.mode & bits) === 0) return false;
  return isTarget || trusted === "root" || (stats.mode & STICKY) === 0;
}

/**
 * A group without other members is no danger: many systems give each user one, with the umask 002. But the group's bits of a file
 * with an access control list are its mask (acl(5)): then others may be meant.
 */
async function findGroup(step: Step): Promise<Exposure | null> {
  const { place, stats, isTarget } = step;
  const [{ name: group, others }, list] = await Promise.all([
    askGroupMembers(stats.gid),
    hasAccessList(place),
  ]);
  const command = close(step, "g-w");
  const act = (can: string, name: string) => `${can} ${isTarget ? "change" : "replace"} ${name}`;
  const through = isTarget ? "" : `: the group can write to ${place}`;
  const [member] = others ?? [];
  if (member !== undefined) {
    const describe = (name: string) =>
      `${act(`users of the group ${group}, such as ${member}, can`, name)}${through}`;
    return { place, describe, command };
  }
  if (others === null) {
    const describe = (name: string) =>
      `${act(`users of the group ${group} may be able to`, name)}${through || ": the system does not tell who they are"}`;
    return { place, describe, command };
  }
  if (!list) return null;
  const describe = (name: string) =>
    `${act("other users may be able to", name)}: the access control list of ${place} lets somebody write`;
  return { place, describe, command };
}

function close({ place, stats }: Step, mode: string): string {
  const isOwn = stats.uid === process.geteuid?.();
  return formatCommand([...(isOwn ? [] : ["sudo"]), "chmod", mode, place]);
}

/**
 * True when a file has an access control list, or when that cannot be told. Node cannot read extended attributes; `ls` marks such a
 * file with a `+` after its mode (that of BusyBox does not).
 */
async function hasAccessList(path: string): Promise<boolean> {
  const ls = findSystemTool("ls");
  const line = ls === null ? null : await runSystemTool(ls, ["-ld", "--", path]);
  return line === null || line[MODE_LENGTH] === "+";
}

/** Of `drwxr-xr-x`. */
const MODE_LENGTH = 10;

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}

function lstatIfThere(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return null;
    throw error;
  }
}
