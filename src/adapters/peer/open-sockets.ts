import { opendirSync, type Dir } from "node:fs";
import { readExecutable, readLink, readStat, readUid } from "./process-files.ts";

/** The process that has a socket open. */
export interface SocketHolder {
  pid: number;
  /** The socket's number among the process's open files. */
  descriptor: string;
}

/** Holders by socket, which is spelled as in `/proc/PID/fd`: `socket:[INODE]`. */
export type HolderBySocket = Map<string, SocketHolder>;

/**
 * Puts the wanted sockets that the process has open into `holders`. Tries the `likely` descriptors first, and stops when all
 * are found. Yields after each small step. Finds none in a process that has ended or hides its open files.
 */
export function* searchProcess(
  pid: number,
  wanted: ReadonlySet<string>,
  holders: HolderBySocket,
  likely: readonly string[] = [],
): Generator<void, void> {
  const missing = new Set(wanted);
  for (const descriptor of descriptorsOf(pid, likely)) {
    const socket = readLink(`/proc/${pid}/fd/${descriptor}`);
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
    // The process ended during the search.
  } finally {
    directory.closeSync();
  }
}

/**
 * Puts the holders of the wanted sockets into `holders`; searches those of `pids` that belong to `uids`. Children can inherit
 * a socket and outlive their purpose, so the holder is the topmost process, going up from the one found, that has it open.
 */
export function* searchAll(
  pids: Iterable<number>,
  uids: ReadonlySet<number>,
  wanted: ReadonlySet<string>,
  holders: HolderBySocket,
): Generator<void, void> {
  const missing = new Set(wanted);
  for (const pid of pids) {
    if (missing.size === 0) return;
    yield;
    const uid = readUid(pid);
    // A process that hides its executable also hides its open files, so trying each of them is pointless.
    if (uid === null || !uids.has(uid) || readExecutable(pid) === null) continue;
    const found: HolderBySocket = new Map();
    yield* searchProcess(pid, missing, found);
    for (const [socket, holder] of found) {
      missing.delete(socket);
      holders.set(socket, yield* topmostHolder(socket, holder));
    }
  }
}

function* topmostHolder(socket: string, child: SocketHolder): Generator<void, SocketHolder> {
  let holder = child;
  for (;;) {
    const parent = readStat(holder.pid)?.parent ?? 0;
    const found: HolderBySocket = new Map();
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
