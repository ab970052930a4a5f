import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** What everybody can see of a process (Linux, /proc): its arguments, and its environment when it is our own user's. */
export interface SeenProcess {
  pid: number;
  parent: number;
  argv: string;
  environ: string;
}

/** Every process of this machine that can be looked into, as `ps` would. */
export function listProcesses(): SeenProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8");
        const parent = Number(/^PPid:\s*(\d+)/m.exec(read("status"))?.[1]);
        return [{ pid: Number(pid), parent, argv: read("cmdline"), environ: read("environ") }];
      } catch {
        // It has ended, or belongs to somebody else.
        return [];
      }
    });
}

/** The process of `parent` in which keytar runs, once it is there. */
export async function keytarChildOf(parent: number): Promise<SeenProcess> {
  for (;;) {
    const [child] = keytarChildrenOf(parent);
    if (child !== undefined) return child;
    await delay(5);
  }
}

/** Resolves when GLib, in that process, has its thread for the bus: then keytar is in its call. */
export async function inCall(pid: number): Promise<void> {
  while (!threadsOf(pid).includes("gdbus\n")) await delay(5);
}

function threadsOf(pid: number): string[] {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).map((thread) => readFileSync(`${tasks}/${thread}/comm`, "utf8"));
}

/** Resolves when `parent` has no such process any more. */
export async function noKeytarChildOf(parent: number): Promise<void> {
  while (keytarChildrenOf(parent).length > 0) await delay(5);
}

/** A dead process that waits to be fetched has no arguments, and so does not count. */
function keytarChildrenOf(parent: number): SeenProcess[] {
  return listProcesses().filter((seen) => seen.parent === parent && /keychain\/child\.[jt]s/.test(seen.argv));
}

/** Resolves when no process has this number any more, or only a dead one that waits to be fetched. */
export async function ended(pid: number): Promise<void> {
  while (listProcesses().some((seen) => seen.pid === pid && seen.argv !== "")) await delay(5);
}

/** Resolves when the process has a handler of its own for SIGUSR1, as Node has from early in its start on; false: it ended. */
export async function catchesSigusr1(pid: number): Promise<boolean> {
  const bit = 1n << 9n;
  for (;;) {
    const caught = readOrNull(`/proc/${pid}/status`, /^SigCgt:\s*(\w+)/m);
    if (caught === null) return false;
    if ((BigInt(`0x${caught}`) & bit) !== 0n) return true;
    await delay(1);
  }
}

/** Ports on which the process listens for TCP over IPv4, as an inspector of Node's does. */
export function portsOf(pid: number): number[] {
  const sockets = new Set(linksIn(`/proc/${pid}/fd`));
  const LISTENING = "0A";
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === LISTENING && sockets.has(`socket:[${inode}]`))
    .map(([, address = ""]) => Number.parseInt(address.split(":")[1] ?? "", 16));
}

function linksIn(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => readlinkSync(`${directory}/${name}`));
  } catch {
    // It has ended, or a file of its was closed meanwhile.
    return [];
  }
}

function readOrNull(path: string, pattern: RegExp): string | null {
  try {
    return pattern.exec(readFileSync(path, "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}
