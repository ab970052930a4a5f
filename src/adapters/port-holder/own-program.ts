import { readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseJson } from "../../core/json.ts";
import { formatCommand } from "../../core/text/shell-words.ts";

/** A running program of ours. */
export interface OwnProgram {
  pid: number;
  /** The word that it was called with, such as `serve` or `bridge`. */
  command: string;
}

/** Returns what a process is by its command line; null for a program that is not ours. */
export function findOwnProgram(pid: number, words: readonly string[]): OwnProgram | null {
  // After node and its options. Where the link is run by its name, the system has put node before it.
  const index = words.findIndex((word, position) => position > 0 && !word.startsWith("-"));
  const script = words[index];
  if (script === undefined || !isOwnScript(script, pid)) return null;
  return { pid, command: words[index + 1] ?? "" };
}

/** By the package that the script belongs to; by the link's name if the package has been removed while the program runs. */
function isOwnScript(script: string, pid: number): boolean {
  try {
    const path = realpathSync(resolve(directoryOf(pid), script));
    const manifest = parseJson(readFileSync(join(dirname(path), "..", "package.json"), "utf8"));
    return (manifest as { name?: unknown } | null)?.name === "tollkeeper";
  } catch {
    return basename(script) === "tollkeeper";
  }
}

function directoryOf(pid: number): string {
  return process.platform === "linux" ? readlinkSync(`/proc/${pid}/cwd`) : "/";
}

/** What decides which daemon a command means. */
const LOCATION_VARIABLES = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"];

const END = "press Ctrl-C in the terminal where it was started";

const STOP = ["tollkeeper", "service", "stop"];

/** Returns how to reach and to stop it: by commands that find it from here, if it is a daemon and the system says where its files are. */
export function adviseOnOwnProgram({ pid, command }: OwnProgram): string {
  if (command === "bridge") return `a bridge runs here already, and tools can use it; to end it, ${END}`;
  if (command !== "serve") return END;
  const uid = ownerOf(pid);
  if (uid !== null && uid !== process.geteuid?.())
    return `it belongs to user id ${uid}, who stops it with: ${formatCommand(STOP)}`;
  const changes = differencesOf(pid);
  if (changes.length > 0) {
    const reach = (...words: string[]) => formatCommand(["env", ...changes, "tollkeeper", ...words]);
    return `your commands reach it in its environment, for example: ${reach("status")}; to stop it, type: ${reach("service", "stop")}`;
  }
  return startedByService(pid)
    ? "restart it with: tollkeeper service restart"
    : `stop it with: ${formatCommand(STOP)}; or ${END}`;
}

/** True for the first process of a systemd unit (systemd.exec(5), since version 248). Programs that a terminal starts inherit the variable. */
function startedByService(pid: number): boolean {
  return environmentOf(pid)?.["SYSTEMD_EXEC_PID"] === String(pid);
}

/** Returns the arguments for env(1) that give a command the variables of that process. */
function differencesOf(pid: number): string[] {
  const there = environmentOf(pid);
  if (there === null) return [];
  return LOCATION_VARIABLES.flatMap((name) => {
    const value = there[name];
    if (value === process.env[name]) return [];
    return value === undefined ? ["-u", name] : [`${name}=${value}`];
  });
}

/** Returns null where it cannot be read: on macOS, and of another user's process. */
function environmentOf(pid: number): Record<string, string> | null {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
    return Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s, 2) as [string, string]));
  } catch {
    return null;
  }
}

function ownerOf(pid: number): number | null {
  try {
    return statSync(`/proc/${pid}`).uid;
  } catch {
    return null;
  }
}
