import { opendirSync, type Dir } from "node:fs";
import { executableOf, linkAt, statOf, uidOf } from "./process-files.ts";

/** Where a socket is open. */
export interface Holder {
  pid: number;
  /** Its number among the process's open files. */
  descriptor: string;
}

/** Holder by socket, as {@link nameOfSocket} spells it. */
export type Holders = Map<string, Holder>;

/** As `/proc/PID/fd` spells a socket. */
export function nameOfSocket(inode: number): string {
  return `socket:[${inode}]`;
}

/**
 * Puts into `holders` which of the wanted sockets the process has open, of those at `likely` descriptors first. Stops at the
 * last of them; yields after each small step. A process that has gone or may not be looked into has none.
 */
export function* searchProcess(
  pid: number,
  wanted: ReadonlySet<string>,
  holders: Holders,
  likely: readonly string[] = [],
): Generator<void, void> {
  const missing = new Set(wanted);
  for (const descriptor of descriptorsOf(pid, likely)) {
    const socket = linkAt(`/proc/${pid}/fd/${descriptor}`);
    if (socket !== null && missing.delete(socket)) holders.set(socket, { pid, descriptor });
    if (missing.size === 0) return;
    yield;
  }
}

function* descriptorsOf(pid: number, likely: readonly string[]): Generator<string, void> {
  yield* likely;
  const directory = openDirectory(`/proc/${pid}/fd`);
  if (directory === null) return;
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry.name;
  } catch {
    // It ended while it was looked into.
  } finally {
    directory.closeSync();
  }
}

/**
 * Puts into `holders` who holds the wanted sockets, among these processes of these users. A socket passes to the children
 * of a process that was not careful, and these outlive what they were started for: its holder is the parent that has it,
 * too.
 */
export function* searchAll(
  pids: Iterable<number>,
  uids: ReadonlySet<number>,
  wanted: ReadonlySet<string>,
  holders: Holders,
): Generator<void, void> {
  const missing = new Set(wanted);
  for (const pid of pids) {
    if (missing.size === 0) return;
    yield;
    const uid = uidOf(pid);
    // A process whose executable is not shown would hide each of its files, one after the other.
    if (uid === null || !uids.has(uid) || executableOf(pid) === null) continue;
    const found: Holders = new Map();
    yield* searchProcess(pid, missing, found);
    for (const [socket, holder] of found) {
      missing.delete(socket);
      holders.set(socket, yield* firstHolder(socket, holder));
    }
  }
}

function* firstHolder(socket: string, child: Holder): Generator<void, Holder> {
  let holder = child;
  for (;;) {
    const parent = statOf(holder.pid)?.parent ?? 0;
    const found: Holders = new Map();
    yield* searchProcess(parent, new Set([socket]), found);
    const above = found.get(socket);
    if (above === undefined) return holder;
    holder = above;
  }
}

function openDirectory(path: string): Dir | null {
  try {
    return opendirSync(path);
  } catch {
    return null;
  }
}
