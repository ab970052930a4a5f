import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { listKernelSockets, socketLink } from "../../../src/adapters/socket-table.ts";

/** What `/proc` shows of a process; its environment only to the same user. */
interface ProcessInfo {
  pid: number;
  parent: number;
  argv: string;
  environ: string;
}

/** Returns every process whose details are visible. */
export function listProcesses(): ProcessInfo[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8");
        const parent = Number(/^PPid:\s*(\d+)/m.exec(read("status"))?.[1]);
        return [{ pid: Number(pid), parent, argv: read("cmdline"), environ: read("environ") }];
      } catch {
        // It has ended, or belongs to another user.
        return [];
      }
    });
}

/** Resolves to the child process of `parent` in which keytar runs, once it exists. */
export async function waitForKeytarChild(parent: number): Promise<ProcessInfo> {
  for (;;) {
    const [child] = keytarChildrenOf(parent);
    if (child !== undefined) return child;
    await delay(5);
  }
}

/** Resolves when GLib has started its D-Bus thread in the process, which means that keytar's call is in progress. */
export async function waitForKeytarCall(pid: number): Promise<void> {
  while (!threadsOf(pid).includes("gdbus\n")) await delay(5);
}

function threadsOf(pid: number): string[] {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).flatMap((thread) => {
    try {
      return [readFileSync(`${tasks}/${thread}/comm`, "utf8")];
    } catch {
      // The thread has ended since it was listed.
      return [];
    }
  });
}

/** Resolves when `parent` has no such child process any more. */
export async function waitForNoKeytarChild(parent: number): Promise<void> {
  while (keytarChildrenOf(parent).length > 0) await delay(5);
}

/** Omits zombies, which have no arguments. */
function keytarChildrenOf(parent: number): ProcessInfo[] {
  return listProcesses().filter(
    (seen) => seen.parent === parent && /keychain\/keytar-child\.[jt]s/.test(seen.argv),
  );
}

/**
 * Resolves when the process has ended, even if it is still a zombie. Asks for its state: the kernel takes the arguments away before it
 * closes the files. Asks for its threads, too: a process is a zombie when its first thread has ended, and any other keeps the files open.
 */
export async function waitForExit(pid: number): Promise<void> {
  while (!hasEnded(pid)) await delay(5);
}

function hasEnded(pid: number): boolean {
  try {
    return /^State:\s*[ZX][^]*^Threads:\s*[01]$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return true;
  }
}

/** Resolves to true when the process handles SIGUSR1, as Node does early in its start; to false when it has ended. */
export async function catchesSigusr1(pid: number): Promise<boolean> {
  const bit = 1n << 9n;
  for (;;) {
    const caught = readOrNull(`/proc/${pid}/status`, /^SigCgt:\s*(\w+)/m);
    if (caught === null) return false;
    if ((BigInt(`0x${caught}`) & bit) !== 0n) return true;
    await delay(1);
  }
}

/** Returns the TCP ports on which the process listens, such as that of Node's inspector. */
export function listeningPortsOf(pid: number): number[] {
  const links = new Set(linksIn(`/proc/${pid}/fd`));
  return listKernelSockets()
    .filter(({ isListening, inode }) => isListening && links.has(socketLink(inode)))
    .map(({ localPort }) => localPort);
}

function linksIn(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => readlinkSync(`${directory}/${name}`));
  } catch {
    // It has ended, or closed a file during the listing.
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
