// What has changed in this clone, as git tells it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What has changed since a commit, in commits and in the working tree. */
export interface Changes {
  /** The commit, as people name it: `v1.2.0 (1a2b3c4d)`. */
  since: string;
  /** Its hash. */
  commit: string;
  /** From the project's root; also files that are gone. */
  files: string[];
}

/** Returns what git prints; null when it fails. */
function git(root: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1e8 });
  return status === 0 ? stdout.trim() : null;
}

const linesOf = (text: string | null) => text?.split("\n").filter(Boolean) ?? [];

/** Returns what has changed since this history left the reference's; null when this clone does not have it, or where they parted. */
export function changesSince(ref: string, root = ROOT): Changes | null {
  const commit = git(root, "merge-base", "HEAD", ref);
  if (commit === null) return null;
  const tracked = linesOf(git(root, "diff", "--name-only", "--no-renames", commit));
  const added = linesOf(git(root, "ls-files", "--others", "--exclude-standard"));
  return { since: `${ref} (${commit.slice(0, 8)})`, commit, files: [...tracked, ...added] };
}

/** Returns what has changed since the last tag of a release before this state; null when this clone has none. */
export function changesSinceTag(root = ROOT): Changes | null {
  const tag = git(root, "describe", "--tags", "--abbrev=0", "--match=v*");
  return tag === null ? null : changesSince(tag, root);
}

/** True when the clone lacks earlier commits, so that tags may exist that it does not know. */
export function isShallow(root = ROOT): boolean {
  return git(root, "rev-parse", "--is-shallow-repository") === "true";
}

/** Returns the lines that were added to files below a directory since a commit. */
export function linesAddedSince(commit: string, directory: string, root = ROOT): string[] {
  const lines = linesOf(git(root, "diff", "--unified=0", commit, "--", directory));
  return lines.filter((line) => line.startsWith("+")).map((line) => line.slice(1));
}

/**
 * Returns when each file was last changed in a commit, in seconds since 1970, newest first. What is not in a commit yet is the newest:
 * Infinity. What git does not know is missing.
 */
export function timesOfChanges(root = ROOT): Map<string, number> {
  const files = linesOf(git(root, "log", "--format=@%ct", "--name-only", "--no-renames"));
  return new Map([...timesIn(files), ...(changesSince("HEAD", root)?.files ?? []).map(uncommitted)]);
}

/** As {@link timesOfChanges}, when each line was last added to a file below a directory. */
export function timesOfLines(directory: string, root = ROOT): Map<string, number> {
  const log = git(root, "log", "--format=@%ct", "--patch", "--unified=0", "--no-renames", "--", directory);
  const added = linesOf(log).filter((line) => /^(?:@\d+$|\+(?!\+\+ ))/.test(line));
  const committed = timesIn(added.map((line) => line.replace(/^\+/, "")));
  return new Map([...committed, ...linesAddedSince("HEAD", directory, root).map(uncommitted)]);
}

const uncommitted = (text: string): [string, number] => [text, Infinity];

/** Reads lines, and between them `@` with the time of those that follow. The first time of a line counts. */
function timesIn(lines: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  let time = 0;
  for (const line of lines) {
    if (/^@\d+$/.test(line)) time = Number(line.slice(1));
    else if (!times.has(line)) times.set(line, time);
  }
  return times;
}
